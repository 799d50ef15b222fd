package dev.ratelimit.algorithm;

/**
 * Base of the algorithms that keep one block of numbers per quota: the tag of the window,
 * then the fields of the algorithm.
 */
abstract class PerQuota implements Formula {

	private final int width;

	PerQuota(int fields) {
		this.width = 1 + fields;
	}

	@Override
	public final long[] settle(long[] state, Pace[] paces, long now) {
		long[] settled = new long[paces.length * this.width + others(state, paces, now)];
		for (int quota = 0; quota < paces.length; quota++) {
			int to = quota * this.width;
			int from = find(state, paces[quota].tag);
			if (from >= 0) {
				System.arraycopy(state, from, settled, to, this.width);
				settle(settled, to + 1, paces[quota], now);
			}
			else {
				settled[to] = paces[quota].tag;
				fill(settled, to + 1, paces[quota], now);
			}
		}
		int to = paces.length * this.width;
		for (int from = 0; to < settled.length; from += this.width) {
			if (isOthers(state, from, paces, now)) {
				System.arraycopy(state, from, settled, to, this.width);
				to += this.width;
			}
		}
		return settled;
	}

	/** Length of the blocks of windows that only other callers have. */
	private int others(long[] state, Pace[] paces, long now) {
		int others = 0;
		for (int from = 0; from < state.length; from += this.width) {
			others += isOthers(state, from, paces, now) ? this.width : 0;
		}
		return others;
	}

	private static boolean isOthers(long[] state, int from, Pace[] paces, long now) {
		for (Pace pace : paces) {
			if (state[from] == pace.tag) {
				return false;
			}
		}
		return state[from + 1] > now;
	}

	@Override
	public final boolean outruns(long[] state, Pace[] paces, long now) {
		for (Pace pace : paces) {
			int from = find(state, pace.tag);
			if (from >= 0 && outruns(state, from + 1, pace, now)) {
				return true;
			}
		}
		return false;
	}

	@Override
	public final long[] take(long[] state, Pace[] paces, long now, long permits) {
		long[] taken = state.clone();
		for (int quota = 0; quota < paces.length; quota++) {
			take(taken, quota * this.width + 1, paces[quota], permits);
		}
		return taken;
	}

	@Override
	public final long[] giveBack(long[] state, Pace[] paces, long now, long since, long permits) {
		long[] given = state.clone();
		for (int quota = 0; quota < paces.length; quota++) {
			giveBack(given, quota * this.width + 1, paces[quota], now, since, permits);
		}
		return given;
	}

	@Override
	public final long returnable(long[] state, Pace[] paces, long now, long since, long permits) {
		long most = 0;
		for (int quota = 0; quota < paces.length; quota++) {
			most = Math.max(most, returnable(state, quota * this.width + 1, paces[quota], now, since, permits));
		}
		return most;
	}

	@Override
	public final long[] charge(long[] state, Pace[] paces, long now, long permits) {
		long[] charged = state.clone();
		for (int quota = 0; quota < paces.length; quota++) {
			int at = quota * this.width + 1;
			take(charged, at, paces[quota], owable(state, at, paces[quota], now, permits));
		}
		return charged;
	}

	@Override
	public final long chargeable(long[] state, Pace[] paces, long now, long permits) {
		long most = 0;
		for (int quota = 0; quota < paces.length; quota++) {
			most = Math.max(most, owable(state, quota * this.width + 1, paces[quota], now, permits));
		}
		return most;
	}

	@Override
	public final long remaining(long[] state, Pace[] paces, int quota, long now) {
		return Math.max(0, remaining(state, quota * this.width + 1, paces[quota], now));
	}

	@Override
	public final long wait(long[] state, Pace[] paces, int quota, long now, long permits) {
		int at = quota * this.width + 1;
		return (remaining(state, at, paces[quota], now) >= permits) ? 0 : wait(state, at, paces[quota], now, permits);
	}

	@Override
	public final long resetAfter(long[] state, Pace[] paces, int quota, long now) {
		return resetAfter(state, quota * this.width + 1, paces[quota], now);
	}

	abstract void fill(long[] state, int at, Pace pace, long now);

	abstract void settle(long[] state, int at, Pace pace, long now);

	abstract boolean outruns(long[] state, int at, Pace pace, long now);

	abstract void take(long[] state, int at, Pace pace, long permits);

	abstract void giveBack(long[] state, int at, Pace pace, long now, long since, long permits);

	abstract long returnable(long[] state, int at, Pace pace, long now, long since, long permits);

	/** How many of these permits can be taken until one burst is owed. */
	abstract long owable(long[] state, int at, Pace pace, long now, long permits);

	abstract long remaining(long[] state, int at, Pace pace, long now);

	abstract long wait(long[] state, int at, Pace pace, long now, long permits);

	abstract long resetAfter(long[] state, int at, Pace pace, long now);

	private int find(long[] state, int tag) {
		for (int from = 0; from < state.length; from += this.width) {
			if (state[from] == tag) {
				return from;
			}
		}
		return -1;
	}

}
