package dev.ratelimit.lease;

import java.time.Duration;

/**
 * How permits are taken ahead.
 *
 * @param refresh time that a lease should last
 * @param prefetchAt percentage left at which the next lease is fetched
 * @param expires time after which unspent permits are lost
 * @param maxCounters largest number of counters in this instance; the least used are
 * forgotten
 */
public record LeaseOptions(Duration refresh, int prefetchAt, Duration expires, long maxCounters) {

	public static final LeaseOptions DEFAULTS = new LeaseOptions(Duration.ofMillis(100), 20, Duration.ofSeconds(1),
			100_000);

	public LeaseOptions {
		if (refresh.isNegative() || refresh.isZero()) {
			throw new IllegalArgumentException("refresh must be positive but was " + refresh);
		}
		if (prefetchAt < 0 || prefetchAt > 90) {
			throw new IllegalArgumentException("prefetch-at must be 0 to 90 but was " + prefetchAt);
		}
		if (expires.compareTo(refresh) < 0) {
			throw new IllegalArgumentException("expires must not be before refresh but was " + expires);
		}
		if (maxCounters < 1) {
			throw new IllegalArgumentException("max-counters must be at least 1 but was " + maxCounters);
		}
	}

}
