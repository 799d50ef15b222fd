package dev.ratelimit.algorithm;

/**
 * Two counts: that of this window, and that of the previous window, weighted by the part
 * of it that a window ending now still covers.
 */
final class SlidingWindowCounter extends PerQuota {

	static final Formula INSTANCE = new SlidingWindowCounter();

	/** Time from which the state no longer matters: the end of the next window. */
	private static final int UNTIL = 0;

	private static final int CURRENT = 1;

	private static final int PREVIOUS = 2;

	private static final long LOW = 1 << 21;

	private SlidingWindowCounter() {
		super(3);
	}

	@Override
	void fill(long[] state, int at, Pace pace, long now) {
		state[at + UNTIL] = until(pace, now);
		state[at + CURRENT] = 0;
		state[at + PREVIOUS] = 0;
	}

	@Override
	void settle(long[] state, int at, Pace pace, long now) {
		long until = until(pace, now);
		if (state[at + UNTIL] < until) {
			state[at + PREVIOUS] = (state[at + UNTIL] == until - pace.window) ? state[at + CURRENT] : 0;
			state[at + CURRENT] = 0;
		}
		else if (state[at + UNTIL] > until) {
			// A window in the future means that the clock was set back: its count and the
			// count before it apply to the current window.
			state[at + CURRENT] = Math.min(pace.mostPermits, state[at + CURRENT] + state[at + PREVIOUS]);
			state[at + PREVIOUS] = 0;
		}
		state[at + UNTIL] = until;
	}

	@Override
	boolean outruns(long[] state, int at, Pace pace, long now) {
		return state[at + UNTIL] - 2 * pace.window > now;
	}

	@Override
	void take(long[] state, int at, Pace pace, long permits) {
		state[at + CURRENT] += permits;
	}

	@Override
	void giveBack(long[] state, int at, Pace pace, long now, long since, long permits) {
		long until = until(pace, since);
		if (until == state[at + UNTIL]) {
			state[at + CURRENT] = Math.max(0, state[at + CURRENT] - permits);
		}
		else if (until == state[at + UNTIL] - pace.window) {
			state[at + PREVIOUS] = Math.max(0, state[at + PREVIOUS] - permits);
		}
	}

	@Override
	long returnable(long[] state, int at, Pace pace, long now, long since, long permits) {
		long until = until(pace, since);
		long counted = (until == state[at + UNTIL]) ? state[at + CURRENT]
				: (until == state[at + UNTIL] - pace.window) ? state[at + PREVIOUS] : 0;
		return Math.min(counted, permits);
	}

	@Override
	long owable(long[] state, int at, Pace pace, long now, long permits) {
		return Math.max(0, Math.min(permits, 2 * pace.permits - state[at + CURRENT]));
	}

	@Override
	long remaining(long[] state, int at, Pace pace, long now) {
		long left = state[at + UNTIL] - pace.window - now;
		return pace.permits - state[at + CURRENT] - shareUp(state[at + PREVIOUS], left, pace.window);
	}

	@Override
	long wait(long[] state, int at, Pace pace, long now, long permits) {
		long left = state[at + UNTIL] - pace.window - now;
		long room = pace.permits - state[at + CURRENT] - permits;
		if (room >= 0) {
			return left - shrunk(state[at + PREVIOUS], room, pace.window);
		}
		long nextRoom = pace.permits - permits;
		return left + pace.window - shrunk(state[at + CURRENT], nextRoom, pace.window);
	}

	@Override
	long resetAfter(long[] state, int at, Pace pace, long now) {
		long left = state[at + UNTIL] - pace.window - now;
		if (state[at + CURRENT] > 0) {
			return left + pace.window;
		}
		return (state[at + PREVIOUS] > 0) ? left : 0;
	}

	/**
	 * Longest part of the window for which {@code count} weighs at most {@code room}:
	 * {@code room * window / count}, computed in two halves because the product can
	 * exceed 2^63.
	 */
	private static long shrunk(long count, long room, long window) {
		if (room >= count) {
			return window;
		}
		long high = room * (window / LOW);
		long low = high % count * LOW + room * (window % LOW);
		return high / count * LOW + low / count;
	}

	/**
	 * {@code count * left / window}, rounded up. The product can exceed 2^53: the
	 * quotient is estimated, then corrected by its exact remainder, which is computed in
	 * two halves of 21 bits.
	 */
	static long shareUp(long count, long left, long window) {
		long share = (long) ((double) count * left / window);
		long remainder = (count * (left / LOW) - share * (window / LOW)) * LOW
				+ (count * (left % LOW) - share * (window % LOW));
		while (remainder < 0) {
			share--;
			remainder += window;
		}
		while (remainder > 0) {
			share++;
			remainder -= window;
		}
		return share;
	}

	private static long until(Pace pace, long time) {
		return pace.windowStart(time) + 2 * pace.window;
	}

}
