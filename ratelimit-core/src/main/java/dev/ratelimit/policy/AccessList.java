package dev.ratelimit.policy;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;

/**
 * Callers that are always let pass or always turned away, as they come with the
 * configuration. An entry names one or more dimensions, all of which have to match:
 * exactly, by a pattern with {@code *}, or an IP by a range such as {@code 10.0.0.0/8}.
 */
public final class AccessList {

	public static final AccessList EMPTY = new AccessList(List.of());

	private final ListEntries entries = new ListEntries();

	private final Set<Map<Dimension, String>> said = new HashSet<>();

	/**
	 * Creates a list.
	 * @param entries what each entry says about dimensions
	 * @throws IllegalArgumentException if an entry is empty or a range is not one
	 */
	public AccessList(List<Map<Dimension, String>> entries) {
		entries.forEach(this.entries::add);
		entries.forEach((entry) -> this.said.add(Map.copyOf(entry)));
	}

	boolean isEmpty() {
		return this.entries.isEmpty();
	}

	/**
	 * The dimensions that entries are about.
	 */
	Set<Dimension> dimensions() {
		return this.entries.dimensions();
	}

	/**
	 * Whether an entry matches a caller.
	 * @param values what is known about the caller
	 */
	boolean matches(Function<Dimension, @Nullable String> values) {
		return this.entries.matches(values);
	}

	/** Whether both have the same entries. */
	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof AccessList list && list.said.equals(this.said);
	}

	@Override
	public int hashCode() {
		return this.said.hashCode();
	}

}
