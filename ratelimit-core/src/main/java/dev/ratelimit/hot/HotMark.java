package dev.ratelimit.counter;

import java.time.Duration;

import dev.ratelimit.Limit;

/**
 * A word that a counter is hot, whatever its traffic: an operator's, or the fleet's own
 * when it splits one.
 *
 * @param name which counter
 * @param left for how much longer
 * @param actor who said so
 * @param reason why, may be empty
 * @param split in how many parts it is kept meanwhile, 1 for as many as its limit says
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

	/**
	 * The same with another time to go.
	 */
	public HotMark withLeft(Duration left) {
		return new HotMark(this.name, left, this.actor, this.reason, this.split);
	}

}
