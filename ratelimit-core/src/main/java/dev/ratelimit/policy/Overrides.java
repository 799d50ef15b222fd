package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Request;
import dev.ratelimit.counter.CounterSpec;

/**
 * Finds a caller's override: the one with the most dimensions, of several the last.
 * Overrides that name the same dimensions are in one hash table, so that a look-up costs
 * as much with ten thousand as with ten.
 */
final class Overrides {

	private final List<Group> groups;

	Overrides(List<PolicyOverride> overrides, Function<PolicyOverride, Map<String, CounterSpec>> specs) {
		Map<List<Dimension>, Group> groups = new LinkedHashMap<>();
		for (int position = 0; position < overrides.size(); position++) {
			PolicyOverride override = overrides.get(position);
			List<Dimension> by = override.when()
				.keySet()
				.stream()
				.sorted(Comparator.comparing(Dimension::name))
				.toList();
			groups.computeIfAbsent(by, (dimensions) -> new Group(dimensions, new HashMap<>()))
				.add(override, position, specs.apply(override));
		}
		this.groups = groups.values()
			.stream()
			.sorted(Comparator.comparingInt((Group group) -> group.by().size()).reversed())
			.toList();
	}

	boolean isEmpty() {
		return this.groups.isEmpty();
	}

	/**
	 * All that overrides say.
	 */
	Stream<CounterSpec> specs() {
		return this.groups.stream().flatMap((group) -> group.entries().values().stream()).map(Entry::spec);
	}

	/**
	 * How a limit counts for the caller of a request, {@code null} if no override says
	 * so.
	 * @param least how many dimensions an override has to name
	 */
	@Nullable CounterSpec find(String limit, Request request, int least) {
		Entry best = null;
		int dimensions = least;
		for (Group group : this.groups) {
			if (group.by().size() < dimensions) {
				break;
			}
			Entry entry = group.find(limit, request);
			if (entry != null && (best == null || entry.position() > best.position())) {
				best = entry;
				dimensions = group.by().size();
			}
		}
		return (best != null) ? best.spec() : null;
	}

	/**
	 * Overrides that name the same dimensions, by limit and values.
	 */
	private record Group(List<Dimension> by, Map<List<String>, Entry> entries) {

		void add(PolicyOverride override, int position, Map<String, CounterSpec> specs) {
			specs.forEach((limit, spec) -> {
				List<String> key = new ArrayList<>(this.by.size() + 1);
				key.add(limit);
				this.by.forEach((dimension) -> key
					.add(ApiKeyDigest.said(dimension, override.when().getOrDefault(dimension, ""))));
				this.entries.put(key, new Entry(position, spec));
			});
		}

		@Nullable Entry find(String limit, Request request) {
			List<String> key = new ArrayList<>(this.by.size() + 1);
			key.add(limit);
			for (Dimension dimension : this.by) {
				String value = request.verified(dimension);
				if (value == null) {
					return null;
				}
				key.add(ApiKeyDigest.presented(dimension, value));
			}
			return this.entries.get(key);
		}

	}

	private record Entry(int position, CounterSpec spec) {
	}

}
