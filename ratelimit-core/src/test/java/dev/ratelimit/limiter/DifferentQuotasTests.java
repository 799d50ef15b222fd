package dev.ratelimit.limiter;

import java.util.function.LongSupplier;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;

/**
 * Different quotas on one counter, in memory.
 */
class DifferentQuotasTests extends DifferentQuotasContract {

	@Override
	protected Counters counters(LongSupplier micros) {
		return new MemoryCounters(1_000, micros);
	}

}
