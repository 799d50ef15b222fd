package dev.ratelimit.memory;

import java.util.function.LongSupplier;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.CountersContract;

class MemoryCountersContractTests extends CountersContract {

	@Override
	protected Counters counters(LongSupplier micros) {
		return new MemoryCounters(10_000, micros);
	}

}
