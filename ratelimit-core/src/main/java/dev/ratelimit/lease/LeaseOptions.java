package dev.ratelimit.lease;

import java.time.Duration;

/**
 * How permits are taken ahead.
 *
 * @param refresh how long a lease should last
 * @param prefetchAt percentage left at which the next one is fetched
 * @param expires after which unspent permits are lost
 * @param maxCounters how many counters are known here; the least used are forgotten
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
			throw new IllegalArgumentException("at least 1 counter must be known but it was " + maxCounters);
		}
	}

}
