package dev.ratelimit;

import java.time.Duration;

/**
 * One quota of one limit after a decision. Times are microseconds of the store's clock,
 * rounded up.
 *
 * @param limit the limit as it applied to this caller
 * @param quota one of its quotas
 * @param remaining permits that could still be taken now
 * @param resetAfterMicros until the counter is full again
 * @param retryAfterMicros until the cost fits; 0 when it did, {@link #NEVER} when it
 * cannot
 * @param nextAfterMicros until there is one permit more than now; 0 when the counter is
 * full
 */
public record LimitStatus(Limit limit, Quota quota, long remaining, long resetAfterMicros, long retryAfterMicros,
		long nextAfterMicros) {

	/** A retry after that never comes: the cost is larger than the burst. */
	public static final long NEVER = -1;

	public Duration resetAfter() {
		return duration(this.resetAfterMicros);
	}

	/**
	 * How long to wait before the same cost fits, zero when it fits or never will.
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

	static Duration duration(long micros) {
		return Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1_000);
	}

}
