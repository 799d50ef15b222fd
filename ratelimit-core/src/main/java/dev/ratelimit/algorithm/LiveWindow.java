package dev.ratelimit.algorithm;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import dev.ratelimit.Quota;

/**
 * A window and the largest quotas that callers of a limit have in it.
 *
 * @param micros length of the window in microseconds
 * @param longestFill fill time of the slowest quota from empty to full, in microseconds
 * @param mostPermits permits of the largest quota
 */
public record LiveWindow(long micros, long longestFill, long mostPermits) {

	/** Longest fill time of any quota: 50 years, in microseconds. */
	private static final long LONGEST_FILL = Duration.ofDays(50 * 365).toSeconds() * 1_000_000;

	public static LiveWindow of(Quota quota) {
		Pace pace = new Pace(quota);
		return new LiveWindow(pace.window, pace.fullUp(), pace.permits);
	}

	public Duration length() {
		return Duration.of(this.micros, ChronoUnit.MICROS);
	}

	/**
	 * A quota large enough to read all usage in the window: the permits of the largest
	 * quota and the fill time of the slowest one, within the bounds of a burst.
	 */
	public Quota largest() {
		double fills = (double) this.longestFill / this.micros;
		long permits = Math.max(1, Math.min(this.mostPermits, (long) (Quota.MAX_PERMITS / fills)));
		long burst = Math.max(1, Math.min(Quota.MAX_PERMITS, (long) (permits * fills)));
		return new Quota(permits, length(), burst);
	}

	/** The same window with a longer fill time, at most {@link #LONGEST_FILL}. */
	LiveWindow longer(double factor) {
		double longer = Math.min(this.longestFill * factor, LONGEST_FILL);
		return new LiveWindow(this.micros, Math.max(this.longestFill, (long) longer), this.mostPermits);
	}

	LiveWindow and(LiveWindow other) {
		return new LiveWindow(this.micros, Math.max(this.longestFill, other.longestFill),
				Math.max(this.mostPermits, other.mostPermits));
	}

}
