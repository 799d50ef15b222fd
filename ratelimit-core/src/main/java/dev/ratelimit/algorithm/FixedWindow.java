package dev.ratelimit.algorithm;

/**
 * One count per window. Windows are aligned to the epoch of the counters' clock, so up to
 * twice the permits can be taken around the edge of two windows.
 */
final class FixedWindow extends PerQuota {

	static final Formula INSTANCE = new FixedWindow();

	/** End of the window. */
	private static final int UNTIL = 0;

	private static final int COUNT = 1;

	private FixedWindow() {
		super(2);
	}

	@Override
	void fill(long[] state, int at, Pace pace, long now) {
		state[at + UNTIL] = end(pace, now);
		state[at + COUNT] = 0;
	}

	@Override
	void settle(long[] state, int at, Pace pace, long now) {
		long end = end(pace, now);
		if (state[at + UNTIL] < end) {
			state[at + COUNT] = 0;
		}
		// A window in the future means that the clock was set back: its count applies to
		// the current window.
		state[at + UNTIL] = end;
	}

	@Override
	boolean outruns(long[] state, int at, Pace pace, long now) {
		return state[at + UNTIL] - pace.window > now;
	}

	@Override
	void take(long[] state, int at, Pace pace, long permits) {
		state[at + COUNT] += permits;
	}

	@Override
	void giveBack(long[] state, int at, Pace pace, long now, long since, long permits) {
		if (end(pace, since) == state[at + UNTIL]) {
			state[at + COUNT] = Math.max(0, state[at + COUNT] - permits);
		}
	}

	@Override
	long returnable(long[] state, int at, Pace pace, long now, long since, long permits) {
		return (end(pace, since) == state[at + UNTIL]) ? Math.min(state[at + COUNT], permits) : 0;
	}

	@Override
	long owable(long[] state, int at, Pace pace, long now, long permits) {
		return Math.max(0, Math.min(permits, 2 * pace.permits - state[at + COUNT]));
	}

	@Override
	long remaining(long[] state, int at, Pace pace, long now) {
		return pace.permits - state[at + COUNT];
	}

	@Override
	long wait(long[] state, int at, Pace pace, long now, long permits) {
		return state[at + UNTIL] - now;
	}

	@Override
	long resetAfter(long[] state, int at, Pace pace, long now) {
		return (state[at + COUNT] > 0) ? state[at + UNTIL] - now : 0;
	}

	private static long end(Pace pace, long time) {
		return pace.windowStart(time) + pace.window;
	}

}
