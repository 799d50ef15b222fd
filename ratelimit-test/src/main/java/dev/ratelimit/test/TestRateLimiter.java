package dev.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.Reservation;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.penalty.Penalties;

/**
 * The limiter of an application in one test: the same policies and algorithms, counters
 * in memory, and a clock that the test sets. Permits, cool-downs and reservations all
 * follow that clock. Decisions are there at once.
 */
public final class TestRateLimiter implements RateLimiter {

	private static final int MAX_COUNTERS = 100_000;

	private final SettableClock clock;

	private final RateLimiter limiter;

	private TestRateLimiter(SettableClock clock, List<Policy> policies) {
		this.clock = clock;
		this.limiter = RateLimiterBuilder.on(new MemoryCounters(MAX_COUNTERS, clock::micros, clock::nanos))
			.policies(policies.toArray(Policy[]::new))
			.penalties(Penalties.local((policy, kind) -> {
			}, (ip) -> false, clock::nanos))
			.build();
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
	 * The clock by which permits come back, and cool-downs and reservations end.
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
	public CompletionStage<Decision> checkUntil(Request request, CompletionStage<?> end) {
		return this.limiter.checkUntil(request, end);
	}

	@Override
	public CompletionStage<Decision> checkUnasked(Request request) {
		return this.limiter.checkUnasked(request);
	}

	@Override
	public CompletionStage<Decision> charge(Request request) {
		return this.limiter.charge(request);
	}

	@Override
	public CompletionStage<Decision> giveBack(Request request) {
		return this.limiter.giveBack(request);
	}

	@Override
	public CompletionStage<Decision> degrade(Request request, Throwable failure) {
		return this.limiter.degrade(request, failure);
	}

	@Override
	public CompletionStage<Reservation> reserve(Request request, Duration expiry) {
		return check(request).thenApply((decision) -> new Reservation(decision, expiry, this.clock::nanos));
	}

}
