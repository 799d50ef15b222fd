package dev.ratelimit.algorithm;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import dev.ratelimit.Quota;

/**
 * A window and the most that a caller of the limit is given in it.
 *
 * @param micros its length
 * @param longestFill how long the slowest quota takes from empty to full, in microseconds
 * @param mostPermits the permits of the largest quota
 */
public record LiveWindow(long micros, long longestFill, long mostPermits) {

	/**
	 * What one quota gives.
	 */
	public static LiveWindow of(Quota quota) {
		Pace pace = new Pace(quota);
		return new LiveWindow(pace.window, pace.fullUp(), pace.permits);
	}

	/**
	 * The length as a duration.
	 */
	public Duration length() {
		return Duration.of(this.micros, ChronoUnit.MICROS);
	}

	LiveWindow and(LiveWindow other) {
		return new LiveWindow(this.micros, Math.max(this.longestFill, other.longestFill),
				Math.max(this.mostPermits, other.mostPermits));
	}

}
