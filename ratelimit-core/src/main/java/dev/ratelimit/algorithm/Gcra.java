package dev.ratelimit.algorithm;

/**
 * The generic cell rate algorithm. The whole state is the theoretical arrival time: the
 * time at which the counter is full again without further requests. A cost fits if it
 * moves that time to at most the fill time of a full burst from now.
 */
final class Gcra extends PerQuota {

	static final Formula INSTANCE = new Gcra();

	/**
	 * Offsets of the arrival time: whole microseconds, and the stored fraction of a
	 * microsecond.
	 */
	private static final int TIME = 0;

	private static final int REST = 1;

	private Gcra() {
		super(2);
	}

	@Override
	void fill(long[] state, int at, Pace pace, long now) {
		state[at + TIME] = now;
		state[at + REST] = 0;
	}

	@Override
	void settle(long[] state, int at, Pace pace, long now) {
		if (outruns(state, at, pace, now)) {
			state[at + TIME] = now + pace.longestFill;
			state[at + REST] = 0;
		}
		else if (state[at + TIME] < now) {
			fill(state, at, pace, now);
		}
	}

	@Override
	boolean outruns(long[] state, int at, Pace pace, long now) {
		// The caller with the slowest quota may have used one burst and owe one more. A
		// later time comes from a clock that was set back or from a lowered limit.
		return state[at + TIME] - now > 2 * pace.longestFill;
	}

	@Override
	void take(long[] state, int at, Pace pace, long asked) {
		// A debt of any size is possible; its time must not leave the range of a long.
		long permits = Math.min(asked, Long.MAX_VALUE / 4 / Math.max(1, pace.whole));
		state[at + TIME] += pace.micros(permits);
		if (pace.part != 0) {
			move(state, at, pace, pace.restOf(state[at + REST]) + pace.rest(permits));
		}
	}

	@Override
	void giveBack(long[] state, int at, Pace pace, long now, long since, long permits) {
		if (now - since > pace.fullUp()) {
			return;
		}
		if (pace.whole > 0 && permits > (state[at + TIME] - now) / pace.whole + 1) {
			// Their time may be more than a long holds.
			fill(state, at, pace, now);
			return;
		}
		state[at + TIME] -= pace.micros(permits);
		if (pace.part != 0) {
			move(state, at, pace, pace.restOf(state[at + REST]) - pace.rest(permits));
		}
		if (state[at + TIME] < now) {
			fill(state, at, pace, now);
		}
	}

	@Override
	long returnable(long[] state, int at, Pace pace, long now, long since, long permits) {
		return (now - since > pace.fullUp()) ? 0 : permits;
	}

	@Override
	long owable(long[] state, int at, Pace pace, long now, long permits) {
		long carried = 2 * pace.fullRest / pace.permits;
		long room = 2 * pace.full + carried - (state[at + TIME] - now);
		long rest = 2 * pace.fullRest - carried * pace.permits - pace.restOf(state[at + REST]);
		return (rest < 0) ? pace.permitsIn(room - 1, rest + pace.permits, permits)
				: pace.permitsIn(room, rest, permits);
	}

	/** Stores a rest; carries whole microseconds over to the time, in both directions. */
	private static void move(long[] state, int at, Pace pace, long rest) {
		long carried = Math.floorDiv(rest, pace.permits);
		state[at + TIME] += carried;
		state[at + REST] = pace.stored(rest - carried * pace.permits);
	}

	@Override
	long remaining(long[] state, int at, Pace pace, long now) {
		long room = pace.full - (state[at + TIME] - now);
		long rest = pace.fullRest - pace.restOf(state[at + REST]);
		return (rest < 0) ? pace.permitsIn(room - 1, rest + pace.permits) : pace.permitsIn(room, rest);
	}

	@Override
	long wait(long[] state, int at, Pace pace, long now, long permits) {
		long wait = state[at + TIME] - now + pace.micros(permits) - pace.full;
		long rest = pace.restOf(state[at + REST]) + pace.rest(permits) - pace.fullRest;
		if (rest > pace.permits) {
			return wait + 2;
		}
		return (rest > 0) ? wait + 1 : wait;
	}

	@Override
	long resetAfter(long[] state, int at, Pace pace, long now) {
		return Pace.roundUp(state[at + TIME] - now, state[at + REST]);
	}

}
