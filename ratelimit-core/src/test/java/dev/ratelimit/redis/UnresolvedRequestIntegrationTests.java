package dev.ratelimit.redis;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.UnresolvedRequestContract;

class UnresolvedRequestIntegrationTests extends UnresolvedRequestContract {

	@Override
	protected Counters counters() {
		return Connections.guarded(Connections.standalone());
	}

}
