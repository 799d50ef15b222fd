package dev.ratelimit.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

/**
 * The limiter on counters in memory, whose clock stands still; remembers what it was
 * asked, and can be made to answer later or not at all.
 */
class RecordedLimiter implements RateLimiter {

	private final List<Request> requests = new CopyOnWriteArrayList<>();

	private final List<Throwable> failures = new CopyOnWriteArrayList<>();

	private final RateLimiter limiter;

	private volatile @Nullable Executor later;

	private volatile @Nullable RuntimeException failure;

	private volatile boolean failsToDegrade;

	RecordedLimiter(PolicySet policies) {
		MemoryCounters counters = new MemoryCounters(1_000, () -> 1_700_000_000_000_000L);
		this.limiter = RateLimiterBuilder.on(counters).policies(() -> policies).fallback(Fallback.to(counters)).build();
	}

	@Override
	public CompletionStage<Decision> check(Request request) {
		this.requests.add(request);
		if (this.failure != null) {
			throw this.failure;
		}
		CompletionStage<Decision> decision = this.limiter.check(request);
		Executor later = this.later;
		return (later == null) ? decision
				: CompletableFuture.supplyAsync(() -> decision, later).thenCompose(Function.identity());
	}

	@Override
	public CompletionStage<Decision> degrade(Request request, Throwable failure) {
		this.failures.add(failure);
		if (this.failsToDegrade) {
			throw new IllegalStateException("broken too");
		}
		return this.limiter.degrade(request, failure);
	}

	void answerOn(Executor later) {
		this.later = later;
	}

	void failWith(RuntimeException failure) {
		this.failure = failure;
	}

	void failToDegrade() {
		this.failsToDegrade = true;
	}

	/** What is left for a caller of whom nothing is known; takes nothing. */
	long remaining(String policy) {
		return this.limiter.check(Request.of(policy).withCost(0)).toCompletableFuture().join().remaining();
	}

	List<Request> requests() {
		return this.requests;
	}

	Request last() {
		return this.requests.get(this.requests.size() - 1);
	}

	/** What the failure mode had to answer for. */
	List<Throwable> failures() {
		return this.failures;
	}

}
