package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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

/** Counters that never answer. */
final class AwayCounters implements Counters {

	@Override
	public void acquire(List<Counter> counters, Permits permits, @Nullable Attempt attempt, Duration timeout,
			Consumer<Grant> answer) {
		answer.accept(Grant.unanswered(permits, counters, new IllegalStateException("away")));
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		return CompletableFuture.failedStage(new IllegalStateException("away"));
	}

	@Override
	public CompletionStage<Settlement> settle(Correction correction) {
		return CompletableFuture.completedStage(Settlement.LOST);
	}

	@Override
	public CompletionStage<Void> reset(List<Counter> counters) {
		return CompletableFuture.failedStage(new IllegalStateException("away"));
	}

	@Override
	public Decision.Source source() {
		return Decision.Source.REDIS;
	}

}
