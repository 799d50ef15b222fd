package dev.ratelimit.redis;

import java.util.function.LongSupplier;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.SettleContract;

class RedisSettleContractIntegrationTests extends SettleContract {

	@Override
	protected Counters counters(LongSupplier micros) {
		return Connections.guarded(Connections.standalone().at(micros));
	}

}
