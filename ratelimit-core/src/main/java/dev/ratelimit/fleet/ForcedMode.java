package dev.ratelimit;

import java.time.Duration;
import java.util.regex.Pattern;

/**
 * A failure mode that answers every check for a while, whatever the counters say: what
 * the big red switch is set to.
 *
 * @param mode what answers
 * @param left how much longer, at most {@link #LONGEST}
 * @param actor who said so
 * @param reason why, may be empty
 */
public record ForcedMode(FailureMode mode, Duration left, String actor, String reason) {

	/** How long it is on if nobody says otherwise. */
	public static final Duration USUAL = Duration.ofHours(1);

	/** What is on for longer than this has been forgotten. */
	public static final Duration LONGEST = Duration.ofDays(30);

	private static final int LONGEST_TEXT = 500;

	/** What could end a line, or turn its direction, for whoever reads it in a log. */
	private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]+");

	public ForcedMode {
		if (left.isNegative() || left.isZero()) {
			throw new IllegalArgumentException("duration must be positive but was " + left);
		}
		if (left.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					"duration must be at most " + LONGEST.toDays() + " days but was " + left);
		}
		actor = printable(actor);
		reason = printable(reason);
	}

	/**
	 * The same with another time to go.
	 */
	public ForcedMode withLeft(Duration left) {
		return new ForcedMode(this.mode, left, this.actor, this.reason);
	}

	/**
	 * A text on one line that can be logged, at most 500 characters of it.
	 */
	public static String printable(String text) {
		String start = text.substring(0, Math.min(text.length(), LONGEST_TEXT));
		return UNPRINTABLE.matcher(start).replaceAll(" ").strip();
	}

}
