package dev.ratelimit.web;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

import dev.ratelimit.Policy;

/**
 * What a path costs under a policy: the most specific of its patterns decides. A path
 * with more than one reading costs as much as its dearest.
 */
final class CostPatterns {

	private static final long DEFAULT_COST = 1;

	/** Paths are decoded before they are matched, and not a second time. */
	private static final PathContainer.Options DECODED = PathContainer.Options.create('/', false);

	private final List<Entry> mostSpecificFirst;

	private CostPatterns(List<Entry> mostSpecificFirst) {
		this.mostSpecificFirst = mostSpecificFirst;
	}

	/**
	 * Compiles the patterns of a policy.
	 * @throws IllegalArgumentException if one is not a pattern
	 */
	static CostPatterns of(Policy policy) {
		List<Entry> entries = new ArrayList<>();
		policy.settings().costs().forEach((pattern, cost) -> entries.add(entry(policy.id(), pattern, cost)));
		entries.sort(Comparator.comparing(Entry::pattern));
		return new CostPatterns(List.copyOf(entries));
	}

	long cost(String rawPath) {
		if (this.mostSpecificFirst.isEmpty()) {
			return DEFAULT_COST;
		}
		long cost = 0;
		for (String path : PathReadings.of(rawPath)) {
			cost = Math.max(cost, cost(PathContainer.parsePath(path, DECODED)));
		}
		return cost;
	}

	private long cost(PathContainer path) {
		for (Entry entry : this.mostSpecificFirst) {
			if (entry.pattern().matches(path)) {
				return entry.cost();
			}
		}
		return DEFAULT_COST;
	}

	private static Entry entry(String policy, String text, long cost) {
		boolean trailingSlash = text.length() > 1 && text.endsWith("/");
		try {
			return new Entry(PathPatternParser.defaultInstance
				.parse(trailingSlash ? text.substring(0, text.length() - 1) : text), cost);
		}
		catch (PatternParseException ex) {
			throw new IllegalArgumentException(PathCosts.where(policy, text) + "not a path pattern (" + ex.getMessage()
					+ "), write for example /orders/export/** or /orders/{id}/report", ex);
		}
	}

	private record Entry(PathPattern pattern, long cost) {
	}

}
