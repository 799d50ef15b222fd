package dev.ratelimit.caller;

import java.util.List;

import dev.ratelimit.Dimension;

/**
 * Replaces the values of callers wherever they are stored or shown: in Redis, in logs, in
 * events and at the endpoint.
 */
@FunctionalInterface
public interface Pseudonyms {

	/**
	 * A printable text of fixed length, the same in every instance of the fleet. The
	 * value cannot be recovered from it without the fleet's salt.
	 */
	String of(Dimension dimension, String value);

	/**
	 * All current and recent texts of a value, to find data stored before the last change
	 * of keys. The first is the current one.
	 */
	default List<String> known(Dimension dimension, String value) {
		return List.of(of(dimension, value));
	}

}
