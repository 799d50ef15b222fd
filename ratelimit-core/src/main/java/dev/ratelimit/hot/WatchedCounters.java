package dev.ratelimit.hot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;

/**
 * Counters that nobody leases from, with an eye on which are asked for most.
 */
public final class WatchedCounters implements Counters {

	private final Counters counters;

	private final HotCounters hot;

	public WatchedCounters(Counters counters, HotCounters hot) {
		this.counters = counters;
		this.hot = hot;
	}

	@Override
	public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		if (permits.most() > 0) {
			counters.forEach(this.hot::count);
		}
		return this.counters.acquire(counters, permits, timeout);
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		return this.counters.giveBack(grant, permits);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return this.counters.reset(counters);
	}

	@Override
	public Decision.Source source() {
		return this.counters.source();
	}

	@Override
	public String toString() {
		return "watched " + this.counters;
	}

}
