package dev.ratelimit.redis;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.EpochTurnContract;

/**
 * With all that is between the limiter and Redis: leases and remembered refusals are
 * those of both counters.
 */
class EpochTurnIntegrationTests extends EpochTurnContract {

	@Override
	protected Counters counters() {
		return leased(Connections.guarded(Connections.standalone()));
	}

	static Counters leased(Counters central) {
		return new LeasedCounters(central, LeaseOptions.DEFAULTS, () -> 1, (counter) -> true, (permits) -> {
		}, System::nanoTime, Connections.DEADLINES);
	}

}
