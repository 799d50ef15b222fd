package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;

/**
 * One algorithm as pure functions over a counter's state. A state is an array of whole
 * numbers that is never changed once it was handed out; an empty one is a counter that
 * nobody has used. Times are microseconds since 1970 of one clock, the store's.
 *
 * <p>
 * Every function but {@link #settle} and {@link #outruns} expects a state that was
 * settled at the same {@code now}. The Redis scripts of the same names take the same
 * steps; property tests hold the two against each other.
 */
public interface Formula {

	/** A counter that nobody has used. */
	long[] UNUSED = {};

	/**
	 * Brings a state up to date: rolls windows, refills, finds quotas by the length of
	 * their window, and draws back what lies further in the future than any live quota
	 * can bring it. Windows that only other callers have are kept behind the own ones.
	 */
	long[] settle(long[] state, Pace[] paces, long now);

	/**
	 * Whether the state is ahead of its clock, because the clock was set back or a limit
	 * was lowered. Its settled form then has to be stored even if nothing is taken,
	 * otherwise the wait starts anew with every attempt.
	 */
	boolean outruns(long[] state, Pace[] paces, long now);

	/**
	 * Permits that can be taken now, under all quotas.
	 */
	long available(long[] state, Pace[] paces, long now);

	/**
	 * The state after taking permits that are available.
	 */
	long[] take(long[] state, Pace[] paces, long now, long permits);

	/**
	 * The state after giving back permits that were taken at {@code since}: unchanged
	 * where their window is over, never more than full.
	 */
	long[] giveBack(long[] state, Pace[] paces, long now, long since, long permits);

	/**
	 * Permits left under one quota.
	 */
	long remaining(long[] state, Pace[] paces, int quota, long now);

	/**
	 * Microseconds until one quota has this many permits, 0 if it has, rounded up.
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
