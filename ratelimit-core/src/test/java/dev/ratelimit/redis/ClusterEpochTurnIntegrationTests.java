package dev.ratelimit.redis;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.EpochTurnContract;

/**
 * Both counters of a caller are on slots of their own.
 */
class ClusterEpochTurnIntegrationTests extends EpochTurnContract {

	@Override
	protected Counters counters() {
		return EpochTurnIntegrationTests.leased(Connections.guarded(Connections.cluster()));
	}

}
