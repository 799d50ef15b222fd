package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;

/**
 * Entries of a list. Those that name the same dimensions exactly are in one hash table,
 * and what they say about others by pattern is tried after that; ranges of IPs and
 * beginnings such as {@code sk_*} are in tables of their own. Only entries that say
 * nothing but other patterns are tried one by one. API keys that are named exactly are
 * known by their digests. Read by many threads without a lock and written by one at a
 * time.
 */
final class ListEntries {

	private final IpRanges ranges = new IpRanges();

	private final Prefixes prefixes = new Prefixes();

	private volatile List<Table> tables = List.of();

	boolean isEmpty() {
		return this.tables.isEmpty() && this.ranges.isEmpty() && this.prefixes.isEmpty();
	}

	/**
	 * Adds an entry.
	 * @throws IllegalArgumentException if it is empty or a range is not one
	 */
	void add(Map<Dimension, String> entry) {
		Parts parts = Parts.of(entry);
		if (parts.range() != null) {
			this.ranges.add(parts.range());
			return;
		}
		if (parts.prefix() != null) {
			this.prefixes.add(parts.only(), parts.prefix());
			return;
		}
		Table table = table(parts.by());
		boolean fresh = table == null;
		table = (table != null) ? table : new Table(parts.by(), new ConcurrentHashMap<>());
		table.entries().computeIfAbsent(parts.values(), (key) -> ConcurrentHashMap.newKeySet()).add(parts.patterns());
		if (fresh) {
			this.tables = Stream.concat(this.tables.stream(), Stream.of(table)).toList();
		}
	}

	void remove(Map<Dimension, String> entry) {
		Parts parts = Parts.of(entry);
		if (parts.range() != null) {
			this.ranges.remove(parts.range());
			return;
		}
		if (parts.prefix() != null) {
			this.prefixes.remove(parts.only(), parts.prefix());
			return;
		}
		Table table = table(parts.by());
		if (table != null) {
			table.entries().computeIfPresent(parts.values(), (key, patterns) -> {
				patterns.remove(parts.patterns());
				return patterns.isEmpty() ? null : patterns;
			});
			if (table.entries().isEmpty()) {
				this.tables = this.tables.stream().filter((other) -> other != table).toList();
			}
		}
	}

	/**
	 * Whether an entry matches a caller.
	 * @param values what is known about the caller
	 */
	boolean matches(Function<Dimension, @Nullable String> values) {
		if (!this.ranges.isEmpty() && this.ranges.contains(values.apply(Dimension.IP))) {
			return true;
		}
		if (this.prefixes.matches(values)) {
			return true;
		}
		List<Table> tables = this.tables;
		for (int i = 0; i < tables.size(); i++) {
			if (tables.get(i).matches(values)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The dimensions that entries are about.
	 */
	Set<Dimension> dimensions() {
		Set<Dimension> dimensions = new HashSet<>();
		if (!this.ranges.isEmpty()) {
			dimensions.add(Dimension.IP);
		}
		this.prefixes.dimensions().forEach(dimensions::add);
		for (Table table : this.tables) {
			dimensions.addAll(table.by());
			table.entries()
				.values()
				.forEach((entries) -> entries.forEach((patterns) -> dimensions.addAll(patterns.keySet())));
		}
		return dimensions;
	}

	int size() {
		int size = this.ranges.size() + this.prefixes.size();
		for (Table table : this.tables) {
			size += table.entries().values().stream().mapToInt(Set::size).sum();
		}
		return size;
	}

	private @Nullable Table table(List<Dimension> by) {
		return this.tables.stream().filter((table) -> table.by().equals(by)).findFirst().orElse(null);
	}

	/**
	 * Entries that name the same dimensions exactly: by the values, what they say about
	 * other dimensions.
	 */
	private record Table(List<Dimension> by, Map<List<String>, Set<Map<Dimension, ValuePattern>>> entries) {

		boolean matches(Function<Dimension, @Nullable String> values) {
			Set<Map<Dimension, ValuePattern>> found = find(values);
			if (found != null) {
				for (Map<Dimension, ValuePattern> patterns : found) {
					if (matches(patterns, values)) {
						return true;
					}
				}
			}
			return false;
		}

		private @Nullable Set<Map<Dimension, ValuePattern>> find(Function<Dimension, @Nullable String> values) {
			List<String> key = new ArrayList<>(this.by.size());
			for (Dimension dimension : this.by) {
				String value = values.apply(dimension);
				if (value == null) {
					return null;
				}
				key.add(ApiKeyDigest.presented(dimension, value));
			}
			return this.entries.get(key);
		}

		private static boolean matches(Map<Dimension, ValuePattern> patterns,
				Function<Dimension, @Nullable String> values) {
			for (Map.Entry<Dimension, ValuePattern> part : patterns.entrySet()) {
				if (!part.getValue().matches(values.apply(part.getKey()))) {
					return false;
				}
			}
			return true;
		}

	}

	/**
	 * An entry taken apart.
	 *
	 * @param by the dimensions that it names exactly, in one order
	 * @param values their values
	 * @param patterns what it says about others
	 * @param range what it is when it is about nothing but IPs
	 * @param prefix what it is when it is about nothing but a beginning
	 */
	private record Parts(List<Dimension> by, List<String> values, Map<Dimension, ValuePattern> patterns,
			IpAddress.@Nullable Range range, @Nullable String prefix) {

		/** The dimension of an entry that names one. */
		Dimension only() {
			return this.patterns.keySet().iterator().next();
		}

		static Parts of(Map<Dimension, String> entry) {
			if (entry.isEmpty()) {
				throw new IllegalArgumentException(
						"an entry needs at least one dimension, for example { tenant: acme }");
			}
			List<Dimension> by = new ArrayList<>();
			List<String> values = new ArrayList<>();
			Map<Dimension, ValuePattern> patterns = new HashMap<>();
			entry.keySet().stream().sorted(Comparator.comparing(Dimension::name)).forEach((dimension) -> {
				String text = entry.getOrDefault(dimension, "");
				ValuePattern pattern = ValuePattern.of(dimension, text);
				if (pattern.exact() != null) {
					by.add(dimension);
					values.add(ApiKeyDigest.said(dimension, text));
				}
				else {
					patterns.put(dimension, pattern);
				}
			});
			boolean one = by.isEmpty() && patterns.size() == 1;
			ValuePattern pattern = one ? patterns.values().iterator().next() : null;
			return new Parts(List.copyOf(by), List.copyOf(values), Map.copyOf(patterns),
					(pattern != null) ? pattern.range() : null, (pattern != null) ? pattern.prefix() : null);
		}

	}

}
