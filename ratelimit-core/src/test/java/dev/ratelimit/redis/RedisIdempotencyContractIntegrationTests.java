package dev.ratelimit.redis;

import java.util.function.LongSupplier;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.IdempotencyContract;

class RedisIdempotencyContractIntegrationTests extends IdempotencyContract {

	@Override
	protected Counters counters(LongSupplier micros) {
		return Connections.guarded(Connections.standalone().at(micros));
	}

}
