package dev.ratelimit.fleet;

import java.time.Duration;

import dev.ratelimit.FailureMode;
import dev.ratelimit.PrintableText;

/**
 * The setting of the emergency switch: a failure mode that answers every check for a
 * while, in place of the counters.
 *
 * @param left remaining time, at most {@link #LONGEST}
 * @param actor who turned the switch on
 * @param reason why, may be empty
 */
public record ForcedMode(FailureMode mode, Duration left, String actor, String reason) {

	/** Duration if the request names none. */
	public static final Duration USUAL = Duration.ofHours(1);

	/** Longest duration: a switch that stays on for longer was forgotten. */
	public static final Duration LONGEST = Duration.ofDays(30);

	public ForcedMode {
		if (left.isNegative() || left.isZero()) {
			throw new IllegalArgumentException("duration must be positive but was " + left);
		}
		if (left.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					"duration must be at most " + LONGEST.toDays() + " days but was " + left);
		}
		actor = PrintableText.of(actor);
		reason = PrintableText.of(reason);
	}

	public ForcedMode withLeft(Duration left) {
		return new ForcedMode(this.mode, left, this.actor, this.reason);
	}

}
