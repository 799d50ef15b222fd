package dev.ratelimit.web;

import java.util.function.LongUnaryOperator;

/**
 * The wait that a refused caller gets.
 *
 * @param seconds value of the header: never less than the true wait
 * @param millis the true wait, rounded up
 */
record RetryAfter(long seconds, long millis) {

	private static final long MAX_JITTER_MICROS = 10_000_000;

	/**
	 * Spreads the retries of callers that were refused together: by whole seconds, and by
	 * no more than the wait itself or ten seconds.
	 * @param waitMicros the true wait
	 * @param jitter gives a random addition, from the largest one in milliseconds
	 */
	static RetryAfter of(long waitMicros, LongUnaryOperator jitter) {
		long earliest = Math.max(1, ceil(waitMicros, 1_000_000));
		long latest = Math.max(earliest, (waitMicros + Math.min(waitMicros, MAX_JITTER_MICROS)) / 1_000_000);
		long most = (latest - earliest) * 1_000;
		long addition = (most > 0) ? Math.max(0, Math.min(most, jitter.applyAsLong(most))) : 0;
		return new RetryAfter(earliest + (addition + 500) / 1_000, ceil(waitMicros, 1_000));
	}

	/** A positive number divided and rounded up. */
	private static long ceil(long number, long divisor) {
		return (number + divisor - 1) / divisor;
	}

}
