package dev.ratelimit.test;

import java.util.List;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.memory.MemoryCounters;

/**
 * The limiter of an application in one test: the same policies and algorithms, counters
 * in memory, and a clock that the test sets. Decisions are there at once.
 */
public final class TestRateLimiter implements RateLimiter {

	private static final int MAX_COUNTERS = 100_000;

	private final SettableClock clock;

	private final RateLimiter limiter;

	private TestRateLimiter(SettableClock clock, List<Policy> policies) {
		this.clock = clock;
		MemoryCounters counters = new MemoryCounters(MAX_COUNTERS, clock::micros, clock::nanos);
		this.limiter = RateLimiterBuilder.on(counters).policies(policies.toArray(Policy[]::new)).build();
	}

	/**
	 * A limiter with these policies, on a clock that starts at the beginning of a day.
	 */
	public static TestRateLimiter of(Policy... policies) {
		return on(SettableClock.atStartOfDay(), policies);
	}

	/**
	 * A limiter with these policies.
	 */
	public static TestRateLimiter on(SettableClock clock, Policy... policies) {
		return new TestRateLimiter(clock, List.of(policies));
	}

	/**
	 * The clock by which permits come back.
	 */
	public SettableClock clock() {
		return this.clock;
	}

	/**
	 * Decides a request.
	 */
	public Decision decide(Request request) {
		return check(request).toCompletableFuture().join();
	}

	@Override
	public CompletionStage<Decision> check(Request request) {
		return this.limiter.check(request);
	}

	@Override
	public Decision checkNow(Request request) {
		return this.limiter.checkNow(request);
	}

	@Override
	public CompletionStage<Decision> degrade(Request request, Throwable failure) {
		return this.limiter.degrade(request, failure);
	}

}
