package dev.ratelimit.limiter;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;

class IdempotentDecisionsTests extends IdempotentDecisionsContract {

	@Override
	protected Counters counters() {
		return new MemoryCounters(1_000, MemoryCounters::systemMicros);
	}

}
