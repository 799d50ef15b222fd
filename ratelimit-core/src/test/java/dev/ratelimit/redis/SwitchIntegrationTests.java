package dev.ratelimit.redis;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.SwitchContract;

class SwitchIntegrationTests extends SwitchContract {

	@Override
	protected Counters counters() {
		return Connections.guarded(Connections.standalone());
	}

}
