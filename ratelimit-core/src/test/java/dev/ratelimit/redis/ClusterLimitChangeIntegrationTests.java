package dev.ratelimit.redis;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.LimitChangeContract;

/**
 * The same on a cluster, where each counter is on a node of its own.
 */
class ClusterLimitChangeIntegrationTests extends LimitChangeContract {

	@Override
	protected Counters counters() {
		return new LeasedCounters(Connections.guarded(Connections.cluster()), LeaseOptions.DEFAULTS, () -> 1,
				(counter) -> false, (permits) -> {
				}, System::nanoTime, Connections.DEADLINES);
	}

}
