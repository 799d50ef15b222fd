package dev.ratelimit.memory;

import java.util.function.LongSupplier;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.IdempotencyContract;

class MemoryIdempotencyContractTests extends IdempotencyContract {

	@Override
	protected Counters counters(LongSupplier micros) {
		return new MemoryCounters(1_000, micros);
	}

}
