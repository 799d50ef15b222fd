package dev.ratelimit.counter;

import java.util.List;

import dev.ratelimit.Dimension;

/**
 * Stands in for the values of callers wherever they would be kept or shown: in Redis, in
 * logs, in events and at the endpoint.
 */
@FunctionalInterface
public interface Pseudonyms {

	/**
	 * A printable text of fixed length, the same in every instance of the fleet, from
	 * which nobody without the fleet's salt finds the value again.
	 */
	String of(Dimension dimension, String value);

	/**
	 * All texts that stand, or until lately stood, for a value: for those who look for
	 * what was kept before the last change of keys. The first is the one that holds now.
	 */
	default List<String> known(Dimension dimension, String value) {
		return List.of(of(dimension, value));
	}

}
