package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.NodeCall;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;

/**
 * A call without a guard: a give-back, or a request of an operator.
 */
final class PendingAcquire extends NodeCall {

	private final CompletableFuture<Grant> grant = new CompletableFuture<>();

	private final @Nullable Attempt attempt;

	PendingAcquire(List<Counter> counters, Permits permits, long since, Duration timeout) {
		this(counters, permits, since, null, timeout);
	}

	PendingAcquire(List<Counter> counters, Permits permits, long since, @Nullable Attempt attempt, Duration timeout) {
		super(counters, permits, since, timeout);
		this.attempt = attempt;
	}

	@Override
	public @Nullable Attempt attempt() {
		return this.attempt;
	}

	@Override
	public void answered(Grant grant) {
		this.grant.complete(grant);
	}

	@Override
	public void failed(UnansweredException failure) {
		this.grant.completeExceptionally(failure);
	}

	/**
	 * Completes with the answer.
	 */
	CompletableFuture<Grant> grant() {
		return this.grant;
	}

}
