package dev.ratelimit;

import java.time.Duration;

/**
 * State of one quota of one limit after a decision. Times are microseconds of the clock
 * of Redis (or of this process, for counters in memory), rounded up.
 *
 * @param limit the limit with the quotas of this caller
 * @param quota one quota of the limit
 * @param remaining permits that are available now
 * @param resetAfterMicros time until the counter is full again
 * @param retryAfterMicros time until the cost fits; 0 if it fits now, {@link #NEVER} if
 * it never fits
 * @param nextAfterMicros time until one more permit is available; 0 if the counter is
 * full
 */
public record LimitStatus(Limit limit, Quota quota, long remaining, long resetAfterMicros, long retryAfterMicros,
		long nextAfterMicros) {

	/** Value of {@code retryAfterMicros} for a cost that is larger than the burst. */
	public static final long NEVER = -1;

	public Duration resetAfter() {
		return duration(this.resetAfterMicros);
	}

	/**
	 * Wait until the same cost fits; zero if it fits now or never.
	 */
	public Duration retryAfter() {
		return duration(Math.max(0, this.retryAfterMicros));
	}

	public boolean refuses() {
		return this.retryAfterMicros != 0;
	}

	public boolean neverFits() {
		return this.retryAfterMicros == NEVER;
	}

	/**
	 * The same status; if it refuses for a time, then for at least this many
	 * microseconds.
	 */
	public LimitStatus waiting(long leastMicros) {
		return (this.retryAfterMicros <= 0 || this.retryAfterMicros >= leastMicros) ? this : new LimitStatus(this.limit,
				this.quota, this.remaining, this.resetAfterMicros, leastMicros, this.nextAfterMicros);
	}

	static Duration duration(long micros) {
		return Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1_000);
	}

}
