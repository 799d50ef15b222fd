package dev.ratelimit.policy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;

/**
 * Callers that are always let pass or always turned away. An entry names one or more
 * dimensions, all of which have to match: exactly, by a pattern with {@code *}, or an IP
 * by a range such as {@code 10.0.0.0/8}. Entries with one exact value are in hash tables;
 * the others are tried one by one.
 */
public final class AccessList {

	public static final AccessList EMPTY = new AccessList(List.of());

	private final Map<Dimension, Set<String>> exact = new HashMap<>();

	private final List<Map<Dimension, ValuePattern>> others = new ArrayList<>();

	/**
	 * Creates a list.
	 * @param entries what each entry says about dimensions
	 * @throws IllegalArgumentException if an entry is empty or a range is not one
	 */
	public AccessList(List<Map<Dimension, String>> entries) {
		for (Map<Dimension, String> entry : entries) {
			if (entry.isEmpty()) {
				throw new IllegalArgumentException(
						"an entry needs at least one dimension, for example { tenant: acme }");
			}
			Map<Dimension, ValuePattern> patterns = new HashMap<>();
			entry.forEach((dimension, text) -> patterns.put(dimension, ValuePattern.of(dimension, text)));
			Map.Entry<Dimension, ValuePattern> only = patterns.entrySet().iterator().next();
			if (patterns.size() == 1 && only.getValue().exact() != null) {
				this.exact.computeIfAbsent(only.getKey(), (key) -> new HashSet<>()).add(only.getValue().exact());
			}
			else {
				this.others.add(Map.copyOf(patterns));
			}
		}
	}

	/**
	 * The dimensions that entries are about.
	 */
	Set<Dimension> dimensions() {
		Set<Dimension> dimensions = new HashSet<>(this.exact.keySet());
		this.others.forEach((entry) -> dimensions.addAll(entry.keySet()));
		return dimensions;
	}

	/**
	 * Whether an entry matches a caller.
	 * @param values what is known about the caller
	 */
	boolean matches(Function<Dimension, @Nullable String> values) {
		if (this.exact.isEmpty() && this.others.isEmpty()) {
			return false;
		}
		for (Map.Entry<Dimension, Set<String>> entry : this.exact.entrySet()) {
			String value = values.apply(entry.getKey());
			if (value != null && entry.getValue().contains(value)) {
				return true;
			}
		}
		for (Map<Dimension, ValuePattern> entry : this.others) {
			if (entry.entrySet().stream().allMatch((part) -> part.getValue().matches(values.apply(part.getKey())))) {
				return true;
			}
		}
		return false;
	}

}
