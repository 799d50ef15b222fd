package dev.ratelimit.redis;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.LimitChangeContract;

/**
 * With all that is between the limiter and Redis: refusals are remembered, and a changed
 * limit must make them forgotten.
 */
class LimitChangeIntegrationTests extends LimitChangeContract {

	@Override
	protected Counters counters() {
		return new LeasedCounters(Connections.guarded(Connections.standalone()), LeaseOptions.DEFAULTS, () -> 1,
				(counter) -> false, (permits) -> {
				}, System::nanoTime, Connections.DEADLINES);
	}

}
