package dev.ratelimit.policy;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;

/**
 * A configured list of callers that are always allowed, or always refused. An entry names
 * one or more dimensions, and all of them must match: exactly, by a pattern with
 * {@code *}, or an IP by a range such as {@code 10.0.0.0/8}.
 */
public final class AccessList {

	public static final AccessList EMPTY = new AccessList(List.of());

	private final ListEntries entries = new ListEntries();

	private final Set<Map<Dimension, String>> said = new HashSet<>();

	/**
	 * @param entries for each entry, the values or patterns by dimension
	 * @throws IllegalArgumentException if an entry is empty or an IP range is invalid
	 */
	public AccessList(List<Map<Dimension, String>> entries) {
		entries.forEach(this.entries::add);
		entries.forEach((entry) -> this.said.add(Map.copyOf(entry)));
	}

	ListEntries entries() {
		return this.entries;
	}

	/** Lists with the same entries are equal. */
	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof AccessList list && list.said.equals(this.said);
	}

	@Override
	public int hashCode() {
		return this.said.hashCode();
	}

}
