package dev.ratelimit.counter;

import java.time.Duration;

/**
 * An operator's word that a counter is hot, whatever its traffic.
 *
 * @param name which counter
 * @param left for how much longer
 * @param actor who said so
 * @param reason why, may be empty
 */
public record HotMark(CounterName name, Duration left, String actor, String reason) {

	public HotMark {
		if (left.isNegative() || left.isZero()) {
			throw new IllegalArgumentException("duration must be positive but was " + left);
		}
	}

	/**
	 * The same with another time to go.
	 */
	public HotMark withLeft(Duration left) {
		return new HotMark(this.name, left, this.actor, this.reason);
	}

}
