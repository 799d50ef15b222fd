package dev.ratelimit.counter;

import java.util.List;

import dev.ratelimit.LimitStatus;

/**
 * A counter as it was right after a decision.
 *
 * @param counter which one
 * @param state its state, not to be changed
 * @param time when, in microseconds of the clock of the store that decided
 */
public record Reading(Counter counter, long[] state, long time) {

	/**
	 * The reading as it is once permits taken by it were given back.
	 */
	public Reading without(long permits) {
		CounterSpec spec = this.counter.spec();
		long[] settled = spec.formula().settle(this.state, spec.paces(), this.time);
		return new Reading(this.counter, spec.formula().giveBack(settled, spec.paces(), this.time, this.time, permits),
				this.time);
	}

	void describe(long least, long granted, List<LimitStatus> statuses) {
		this.counter.spec().describe(this.state, this.time, least, granted, statuses);
	}

}
