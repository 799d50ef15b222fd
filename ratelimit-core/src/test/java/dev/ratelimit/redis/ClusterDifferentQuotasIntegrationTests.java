package dev.ratelimit.redis;

import java.util.function.LongSupplier;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.DifferentQuotasContract;

/**
 * Different quotas on one counter, on a cluster.
 */
class ClusterDifferentQuotasIntegrationTests extends DifferentQuotasContract {

	@Override
	protected Counters counters(LongSupplier micros) {
		return Connections.guarded(Connections.cluster().at(micros));
	}

}
