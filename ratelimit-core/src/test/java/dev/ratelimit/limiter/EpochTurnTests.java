package dev.ratelimit.limiter;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;

class EpochTurnTests extends EpochTurnContract {

	private static final long NOON = 1_700_000_000_000_000L;

	@Override
	protected Counters counters() {
		return new MemoryCounters(1_000, () -> NOON);
	}

}
