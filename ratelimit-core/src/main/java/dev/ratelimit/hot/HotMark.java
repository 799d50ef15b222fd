package dev.ratelimit.hot;

import java.time.Duration;

import dev.ratelimit.Limit;

/**
 * Declares a counter hot, whatever its traffic. Set by an operator, or by the fleet
 * itself when it splits a counter.
 *
 * @param name which counter
 * @param left time until it expires
 * @param actor who set it
 * @param reason why, may be empty
 * @param split number of parts meanwhile, 1 for the number that the limit configures
 */
public record HotMark(CounterName name, Duration left, String actor, String reason, int split) {

	public HotMark {
		if (left.isNegative() || left.isZero()) {
			throw new IllegalArgumentException("duration must be positive but was " + left);
		}
		if (split < 1 || split > Limit.MAX_SPLIT) {
			throw new IllegalArgumentException("split must be 1 to " + Limit.MAX_SPLIT + " but was " + split);
		}
	}

	public HotMark(CounterName name, Duration left, String actor, String reason) {
		this(name, left, actor, reason, 1);
	}

	public HotMark withLeft(Duration left) {
		return new HotMark(this.name, left, this.actor, this.reason, this.split);
	}

}
