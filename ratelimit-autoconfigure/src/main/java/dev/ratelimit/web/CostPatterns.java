package dev.ratelimit.web;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;

import dev.ratelimit.Policy;

/**
 * The costs of paths under a policy: the most specific pattern decides. A path with more
 * than one reading costs as much as the most expensive of them.
 */
record CostPatterns(List<Entry> mostSpecificFirst, long otherwise) {

	/**
	 * Compiles the patterns of a policy.
	 * @throws IllegalArgumentException if one is not a pattern
	 */
	static CostPatterns of(Policy policy) {
		List<Entry> entries = new ArrayList<>();
		policy.settings().costs().forEach((pattern, cost) -> entries.add(entry(policy.id(), pattern, cost)));
		entries.sort(Comparator.comparing(Entry::pattern));
		return new CostPatterns(List.copyOf(entries), ResolutionPlans.Plan.estimate(policy));
	}

	long cost(String rawPath) {
		if (this.mostSpecificFirst.isEmpty()) {
			return this.otherwise;
		}
		long cost = 0;
		for (PathContainer path : PathPatterns.containers(PathReadings.of(rawPath))) {
			cost = Math.max(cost, cost(path));
		}
		return cost;
	}

	private long cost(PathContainer path) {
		for (Entry entry : this.mostSpecificFirst) {
			if (entry.pattern().matches(path)) {
				return entry.cost();
			}
		}
		return this.otherwise;
	}

	private static Entry entry(String policy, String text, long cost) {
		try {
			return new Entry(PathPatterns.parse(text), cost);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(PathCosts.where(policy, text) + ex.getMessage(), ex);
		}
	}

	record Entry(PathPattern pattern, long cost) {
	}

}
