package dev.ratelimit.guard;

import java.time.Duration;

/**
 * When a node is left alone for a while.
 *
 * @param failureRate percentage of failed checks that opens the breaker
 * @param window over which it is counted, in whole seconds and at least two: a window of
 * one would be empty at the beginning of each second
 * @param minimumCalls checks in the window before the rate counts
 * @param openFor how long the node is left alone before it is tried again, up to a fifth
 * longer so that a fleet does not try at once
 */
public record BreakerOptions(float failureRate, Duration window, int minimumCalls, Duration openFor) {

	private static final Duration MIN_WINDOW = Duration.ofSeconds(2);

	private static final Duration MAX_WINDOW = Duration.ofHours(1);

	public static final BreakerOptions DEFAULTS = new BreakerOptions(5, Duration.ofSeconds(10), 50,
			Duration.ofSeconds(5));

	public BreakerOptions {
		if (!(failureRate > 0 && failureRate <= 100)) {
			throw new IllegalArgumentException("failure-rate must be above 0 and at most 100 but was " + failureRate);
		}
		if (window.compareTo(MIN_WINDOW) < 0 || window.compareTo(MAX_WINDOW) > 0 || window.getNano() != 0) {
			throw new IllegalArgumentException("window must be whole seconds from 2s to 1h but was " + window);
		}
		if (minimumCalls < 1) {
			throw new IllegalArgumentException("minimum-calls must be at least 1 but was " + minimumCalls);
		}
		if (openFor.compareTo(Duration.ofMillis(1)) < 0) {
			throw new IllegalArgumentException("open-for must be at least 1ms but was " + openFor);
		}
	}

}
