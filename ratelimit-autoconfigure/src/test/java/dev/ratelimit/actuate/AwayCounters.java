package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Decision;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;

/** Counters that never answer. */
final class AwayCounters implements Counters {

	@Override
	public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
		return CompletableFuture.failedStage(new IllegalStateException("away"));
	}

	@Override
	public CompletionStage<Void> giveBack(Grant grant, long permits) {
		return CompletableFuture.failedStage(new IllegalStateException("away"));
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
