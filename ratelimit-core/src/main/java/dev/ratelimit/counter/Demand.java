package dev.ratelimit.counter;

/**
 * How much counters are in demand.
 */
@FunctionalInterface
public interface Demand {

	/**
	 * Whether requests ask for a counter so often that it pays to take its permits ahead.
	 */
	boolean isHot(Counter counter);

	/**
	 * Counts a request for a counter.
	 */
	default void count(Counter counter) {
	}

}
