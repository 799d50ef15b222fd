package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;

/**
 * One algorithm as pure functions over a counter's state. A state is an array of whole
 * numbers that never changes after it is returned; an empty array is an unused counter.
 * Times are microseconds since 1970 of one clock: that of Redis, or of this process for
 * counters in memory.
 *
 * <p>
 * Every function but {@link #settle} and {@link #outruns} expects a state that was
 * settled at the same {@code now}. The Redis scripts of the same names do the same steps;
 * property tests compare the two.
 */
public interface Formula {

	/** State of an unused counter. */
	long[] UNUSED = {};

	/**
	 * Brings a state up to date: rolls windows, refills, finds quotas by the length of
	 * their window, and pulls back times that are further in the future than any live
	 * quota allows. Windows of other callers only are kept after the caller's own
	 * windows.
	 */
	long[] settle(long[] state, Pace[] paces, long now);

	/**
	 * Whether the state is ahead of the clock, because the clock was set back or a limit
	 * was lowered. The settled state must then be stored even if no permit is taken;
	 * otherwise the wait starts again with every attempt.
	 */
	boolean outruns(long[] state, Pace[] paces, long now);

	/**
	 * Permits that all quotas together allow now.
	 */
	default long available(long[] state, Pace[] paces, long now) {
		long available = Long.MAX_VALUE;
		for (int quota = 0; quota < paces.length; quota++) {
			available = Math.min(available, remaining(state, paces, quota, now));
		}
		return available;
	}

	/**
	 * The state after permits were taken; there must be that many available.
	 */
	long[] take(long[] state, Pace[] paces, long now, long permits);

	/**
	 * The state after permits taken at {@code since} were given back: unchanged for
	 * quotas whose window is over, never more than full.
	 */
	long[] giveBack(long[] state, Pace[] paces, long now, long since, long permits);

	/**
	 * How many of these permits, taken at {@code since}, {@link #giveBack} returns to the
	 * quota that returns most: 0 if all windows are over. Permits that make a counter
	 * full are returned, also if it takes fewer.
	 */
	long returnable(long[] state, Pace[] paces, long now, long since, long permits);

	/**
	 * The state after a cost was charged without a check, because it is only known after
	 * the request. Each quota takes as much of it as leaves a debt of at most one burst.
	 */
	long[] charge(long[] state, Pace[] paces, long now, long permits);

	/**
	 * How many of these permits {@link #charge} takes from the quota that takes most.
	 */
	long chargeable(long[] state, Pace[] paces, long now, long permits);

	/**
	 * Permits left under one quota.
	 */
	long remaining(long[] state, Pace[] paces, int quota, long now);

	/**
	 * Microseconds until one quota has this many permits, rounded up; 0 if it has them
	 * now.
	 * @param permits at most the quota's burst
	 */
	long wait(long[] state, Pace[] paces, int quota, long now, long permits);

	/**
	 * Microseconds until one quota is full again, rounded up.
	 */
	long resetAfter(long[] state, Pace[] paces, int quota, long now);

	static Formula of(Algorithm algorithm) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> Gcra.INSTANCE;
			case SLIDING_WINDOW_COUNTER -> SlidingWindowCounter.INSTANCE;
			case SLIDING_WINDOW_LOG -> SlidingWindowLog.INSTANCE;
			case FIXED_WINDOW -> FixedWindow.INSTANCE;
		};
	}

}
