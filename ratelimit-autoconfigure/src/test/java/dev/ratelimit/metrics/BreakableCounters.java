package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

/**
 * Counters that answer as Redis would, until they fail.
 */
public class BreakableCounters implements Counters {

	private final Counters counters = new MemoryCounters(200_000, MemoryCounters::systemMicros);

	private volatile Throwable failure;

	public void failWith(Throwable failure) {
		this.failure = failure;
	}

	public void recover() {
		this.failure = null;
	}

	@Override
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		Throwable failure = this.failure;
		if (failure != null) {
			answer.accept(Grant.unanswered(permits, counters, failure));
			return;
		}
		this.counters.acquire(counters, permits, attempt, timeout,
				(grant) -> answer.accept(new Grant(permits, grant.permits(), grant.readings(), source())));
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		return this.counters.giveBack(grant, permits);
	}

	@Override
	public CompletionStage<Settlement> settle(Correction correction) {
		return this.counters.settle(correction);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return this.counters.reset(counters);
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.REDIS;
	}

}
