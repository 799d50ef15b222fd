package dev.ratelimit.policy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Request;

/**
 * Entries of an allow-list or a deny-list. Exact values, single IP ranges and single
 * prefixes such as {@code sk_*} are found by a look-up; an entry's other patterns are
 * checked after it. Only entries that consist of other patterns are checked one by one.
 * Many threads read without a lock, one thread writes at a time.
 */
final class ListEntries {

	/** The usual entry: nothing but the key must match. One for all, to save memory. */
	private static final Set<Map<Dimension, ValuePattern>> KEY_ALONE = Set.of(Map.of());

	/** By key, the patterns that must match too: one map per entry. */
	private final CallerIndex<Set<Map<Dimension, ValuePattern>>> index = new CallerIndex<>();

	/**
	 * Adds an entry.
	 * @throws IllegalArgumentException if the entry is empty or an IP range is invalid
	 */
	void add(Map<Dimension, String> entry) {
		Entry added = Entry.of(entry);
		this.index.change(added.form(), added.key(), (before) -> {
			if (before == null && added.patterns().isEmpty()) {
				return KEY_ALONE;
			}
			if (before != null && before != KEY_ALONE) {
				before.add(added.patterns());
				return before;
			}
			Set<Map<Dimension, ValuePattern>> all = ConcurrentHashMap.newKeySet();
			all.addAll((before != null) ? before : Set.of());
			all.add(added.patterns());
			return all;
		});
	}

	void remove(Map<Dimension, String> entry) {
		Entry removed = Entry.of(entry);
		this.index.change(removed.form(), removed.key(), (before) -> {
			if (before == null || before == KEY_ALONE) {
				return removed.patterns().isEmpty() ? null : before;
			}
			before.remove(removed.patterns());
			return before.isEmpty() ? null : before;
		});
	}

	boolean matches(Request request, Facts facts) {
		List<CallerIndex.Table<Set<Map<Dimension, ValuePattern>>>> tables = this.index.tables();
		IpAddress ip = null;
		for (int i = 0; i < tables.size(); i++) {
			Object key;
			if (tables.get(i).form() instanceof KeyForm.Network network) {
				// Parsed once for networks of all sizes.
				ip = (ip != null) ? ip : ip(request, facts);
				key = network.key(ip);
			}
			else {
				key = tables.get(i).form().key(request, facts);
			}
			Set<Map<Dimension, ValuePattern>> found = (key != null) ? tables.get(i).entries().get(key) : null;
			if (found != null && anyMatches(found, request, facts)) {
				return true;
			}
		}
		return false;
	}

	private static @Nullable IpAddress ip(Request request, Facts facts) {
		String ip = facts.get(request, Dimension.IP);
		return (ip != null) ? IpAddress.parse(ip) : null;
	}

	private static boolean anyMatches(Set<Map<Dimension, ValuePattern>> entries, Request request, Facts facts) {
		for (Map<Dimension, ValuePattern> patterns : entries) {
			boolean matches = true;
			for (Map.Entry<Dimension, ValuePattern> part : patterns.entrySet()) {
				matches = matches && part.getValue().matches(facts.get(request, part.getKey()));
			}
			if (matches) {
				return true;
			}
		}
		return false;
	}

	Set<Dimension> dimensions() {
		Set<Dimension> dimensions = new HashSet<>();
		this.index.tables().forEach((table) -> dimensions.addAll(table.form().dimensions()));
		this.index.entries().flatMap(Set::stream).forEach((patterns) -> dimensions.addAll(patterns.keySet()));
		return dimensions;
	}

	int size() {
		return this.index.entries().mapToInt(Set::size).sum();
	}

	/**
	 * An entry in the form in which it is stored.
	 *
	 * @param patterns patterns that the key does not cover
	 */
	private record Entry(KeyForm form, Object key, Map<Dimension, ValuePattern> patterns) {

		static Entry of(Map<Dimension, String> entry) {
			if (entry.isEmpty()) {
				throw new IllegalArgumentException(
						"an entry needs at least one dimension, for example { tenant: acme }");
			}
			Map<Dimension, ValuePattern> patterns = new HashMap<>();
			entry.forEach((dimension, text) -> patterns.put(dimension, ValuePattern.of(dimension, text)));
			if (patterns.size() == 1) {
				Map.Entry<Dimension, ValuePattern> only = patterns.entrySet().iterator().next();
				IpAddress.Range range = only.getValue().range();
				if (range != null) {
					return new Entry(new KeyForm.Network(range.network().bits(), range.prefix()), range.network(),
							Map.of());
				}
				String prefix = only.getValue().prefix();
				if (prefix != null) {
					return new Entry(new KeyForm.Prefix(only.getKey(), prefix.length()), prefix, Map.of());
				}
			}
			patterns.values().removeIf(ValuePattern::isExact);
			KeyForm.Values values = KeyForm.Values
				.of(entry.keySet().stream().filter((dimension) -> !patterns.containsKey(dimension)).toList());
			return new Entry(values, values.key(entry), Map.copyOf(patterns));
		}

	}

}
