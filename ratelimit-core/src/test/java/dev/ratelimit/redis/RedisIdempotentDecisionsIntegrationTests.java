package dev.ratelimit.redis;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.IdempotentDecisionsContract;
import dev.ratelimit.split.SplitCounters;
import dev.ratelimit.split.Splitting;

class RedisIdempotentDecisionsIntegrationTests extends IdempotentDecisionsContract {

	@Override
	protected Counters counters() {
		Counters leased = new LeasedCounters(Connections.guarded(Connections.standalone()), LeaseOptions.DEFAULTS,
				() -> 1, (counter) -> false, (permits) -> {
				}, System::nanoTime, Connections.DEADLINES);
		return SplitCounters.of(leased, Splitting.CONFIGURED);
	}

}
