package dev.ratelimit.algorithm;

/**
 * A bucket of whole tokens and the exact time at which the last one came in, so that no
 * fraction of a token is ever lost or given twice. It also keeps the burst that the
 * tokens were counted under: after a change of policy the bucket is as full as it was.
 */
final class TokenBucket extends PerQuota {

	static final Formula INSTANCE = new TokenBucket();

	private static final int TOKENS = 0;

	/**
	 * Offsets of the time of the last token: microseconds, and the rest in 1/permits of
	 * one.
	 */
	private static final int TIME = 1;

	private static final int REST = 2;

	private static final int BURST = 3;

	private TokenBucket() {
		super(4);
	}

	@Override
	void fill(long[] state, int at, Pace pace, long now) {
		state[at + TOKENS] = pace.burst;
		state[at + TIME] = now;
		state[at + REST] = 0;
		state[at + BURST] = pace.burst;
	}

	@Override
	void settle(long[] state, int at, Pace pace, long now) {
		if (state[at + BURST] != pace.burst) {
			state[at + TOKENS] = Math.floorDiv(state[at + TOKENS] * pace.burst, state[at + BURST]);
			state[at + BURST] = pace.burst;
		}
		if (state[at + REST] >= pace.permits) {
			state[at + TIME] += 1;
			state[at + REST] = 0;
		}
		if (state[at + TIME] > now) {
			state[at + TIME] = now;
			state[at + REST] = 0;
		}
		refill(state, at, pace, now);
	}

	private void refill(long[] state, int at, Pace pace, long now) {
		long elapsed = now - state[at + TIME];
		long rest = -state[at + REST];
		long tokens = (rest < 0) ? pace.permitsIn(elapsed - 1, rest + pace.permits) : pace.permitsIn(elapsed, rest);
		if (state[at + TOKENS] + tokens >= pace.burst) {
			fill(state, at, pace, now);
			return;
		}
		state[at + TOKENS] += tokens;
		state[at + TIME] += pace.micros(tokens);
		state[at + REST] += pace.rest(tokens);
		if (state[at + REST] >= pace.permits) {
			state[at + TIME] += 1;
			state[at + REST] -= pace.permits;
		}
	}

	@Override
	boolean outruns(long[] state, int at, Pace pace, long now) {
		return state[at + TIME] > now;
	}

	@Override
	void take(long[] state, int at, Pace pace, long permits) {
		state[at + TOKENS] -= permits;
	}

	@Override
	void giveBack(long[] state, int at, Pace pace, long now, long since, long permits) {
		if (now - since > pace.fullUp()) {
			return;
		}
		state[at + TOKENS] += permits;
		if (state[at + TOKENS] >= pace.burst) {
			fill(state, at, pace, now);
		}
	}

	@Override
	long remaining(long[] state, int at, Pace pace, long now) {
		return state[at + TOKENS];
	}

	@Override
	long wait(long[] state, int at, Pace pace, long now, long permits) {
		long missing = permits - state[at + TOKENS];
		long wait = state[at + TIME] - now + pace.micros(missing);
		long rest = state[at + REST] + pace.rest(missing);
		if (rest > pace.permits) {
			return wait + 2;
		}
		return (rest > 0) ? wait + 1 : wait;
	}

	@Override
	long resetAfter(long[] state, int at, Pace pace, long now) {
		return (state[at + TOKENS] >= pace.burst) ? 0 : wait(state, at, pace, now, pace.burst);
	}

}
