package dev.ratelimit.counter;

import java.util.List;

import dev.ratelimit.LimitStatus;

/**
 * A counter as it was right after a decision.
 *
 * @param counter which one
 * @param state its state, not to be changed
 * @param time when, in microseconds of the clock of the store that decided
 * @param ahead permits that the state counts as taken but that this reading is without
 */
public record Reading(Counter counter, long[] state, long time, long ahead) {

	public Reading(Counter counter, long[] state, long time) {
		this(counter, state, time, 0);
	}

	/**
	 * The reading as it is without permits that the state counts: they were given back,
	 * or others took them later. They are taken out when somebody looks.
	 */
	public Reading without(long permits) {
		return new Reading(this.counter, this.state, this.time, this.ahead + permits);
	}

	/**
	 * Permits that are left under all quotas.
	 * @param time at which it is asked, on the clock of the store
	 */
	public long available(long time) {
		CounterSpec spec = this.counter.spec();
		long[] settled = spec.formula().settle(this.state, spec.paces(), time);
		return spec.formula().available(settled, spec.paces(), time) + this.ahead;
	}

	/**
	 * Microseconds until this many permits are left, from when it was read; negative if
	 * they never are.
	 */
	public long waitFor(long permits) {
		CounterSpec spec = this.counter.spec();
		if (permits > spec.largestCost()) {
			return -1;
		}
		long[] settled = spec.formula().settle(own(), spec.paces(), this.time);
		long longest = 0;
		for (int quota = 0; quota < spec.paces().length; quota++) {
			longest = Math.max(longest, spec.formula().wait(settled, spec.paces(), quota, this.time, permits));
		}
		return longest;
	}

	void describe(long least, long granted, List<LimitStatus> statuses) {
		this.counter.spec().describe(own(), this.time, least, granted, statuses);
	}

	/** The state without what it is without. */
	private long[] own() {
		if (this.ahead == 0) {
			return this.state;
		}
		CounterSpec spec = this.counter.spec();
		long[] settled = spec.formula().settle(this.state, spec.paces(), this.time);
		return spec.formula().giveBack(settled, spec.paces(), this.time, this.time, this.ahead);
	}

}
