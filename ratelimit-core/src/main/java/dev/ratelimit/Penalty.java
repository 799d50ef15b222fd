package dev.ratelimit;

import java.time.Duration;

/**
 * What happens to callers that keep sending while they are refused.
 *
 * @param after offences after which a cool-down begins, each time
 * @param coolDown length of the first cool-down; each further one is twice as long
 * @param max longest cool-down; offences are forgotten this long after the last one
 * @param banAfter offences after which the caller is banned, 0 for never
 * @param banFor length of a ban
 * @param closeAfter refusals in a row after which a gateway closes the connection, 0 for
 * never
 */
public record Penalty(long after, Duration coolDown, Duration max, long banAfter, Duration banFor, long closeAfter) {

	/** Shortest wait that a policy with penalties announces. */
	public static final Duration LEAST_WAIT = Duration.ofSeconds(1);

	/** Requests this long after the first refusal of a run may have been under way. */
	public static final Duration GRACE = Duration.ofMillis(250);

	private static final Duration LONGEST = Duration.ofDays(31);

	private static final long MOST = 1_000_000_000;

	public Penalty {
		requireNumber("after", after, 1);
		requireDuration("cool-down", coolDown);
		requireDuration("max", max);
		requireNumber("ban-after", banAfter, 0);
		requireDuration("ban-for", banFor);
		requireNumber("close-after", closeAfter, 0);
		if (max.compareTo(coolDown) < 0) {
			throw new IllegalArgumentException(
					"max of " + Quota.text(max) + " is shorter than the cool-down of " + Quota.text(coolDown));
		}
	}

	/**
	 * Length of the cool-down that begins with this offence, zero if none begins.
	 * @param offences number of this offence, from 1
	 */
	public Duration coolDownAt(long offences) {
		if (offences % this.after != 0) {
			return Duration.ZERO;
		}
		Duration length = this.coolDown;
		for (long level = offences / this.after; level > 1 && length.compareTo(this.max) < 0; level--) {
			length = length.multipliedBy(2);
		}
		return (length.compareTo(this.max) < 0) ? length : this.max;
	}

	/**
	 * Whether this offence leads to a ban.
	 * @param offences number of this offence, from 1
	 */
	public boolean bansAt(long offences) {
		return this.banAfter > 0 && offences >= this.banAfter;
	}

	private static void requireNumber(String name, long number, long least) {
		if (number < least || number > MOST) {
			throw new IllegalArgumentException(name + " must be " + least + " to " + MOST + " but was " + number);
		}
	}

	private static void requireDuration(String name, Duration duration) {
		if (duration.compareTo(LEAST_WAIT) < 0 || duration.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(name + " must be 1s to 31d but was " + duration);
		}
	}

}
