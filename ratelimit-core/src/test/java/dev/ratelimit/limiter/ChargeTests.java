package dev.ratelimit.limiter;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Costs of requests that have already taken place.
 */
class ChargeTests {

	private static final Request ORDERS = Request.of("orders").with(Dimension.TENANT, "acme");

	private final AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);

	private final PolicySet policies = new PolicySet(
			List.of(Policy.builder("orders").limit("per-tenant", List.of(Dimension.TENANT), "3/m").build()),
			new AccessList(List.of(Map.of(Dimension.TENANT, "friend"))), AccessList.EMPTY);

	private final MemoryCounters counters = new MemoryCounters(1_000, this.micros::get);

	private final PolicyRateLimiter limiter = new PolicyRateLimiter(() -> this.policies, new CounterKeys("rl"),
			this.counters, Fallback.to(this.counters), LimiterOptions.DEFAULTS, List.of());

	private Decision check(long cost) {
		return this.limiter.check(ORDERS.withCost(cost)).toCompletableFuture().join();
	}

	private Decision charge(Request request, long cost) {
		return this.limiter.charge(request.withCost(cost)).toCompletableFuture().join();
	}

	@Test
	void chargeIsNotRefusedAndLaterRequestsPayTheDebt() {
		assertThat(check(3).allowed()).isTrue();
		assertThat(charge(ORDERS, 2).allowed()).isTrue();
		this.micros.addAndGet(40_000_000);
		assertThat(check(1).allowed()).isFalse();
		this.micros.addAndGet(20_000_000);
		assertThat(check(1).allowed()).isTrue();
	}

	@Test
	void debtIsAtMostOneBurst() {
		charge(ORDERS, 1_000);
		this.micros.addAndGet(80_000_000);
		assertThat(check(1).allowed()).isTrue();
	}

	@Test
	void chargeOfZeroTakesNothing() {
		charge(ORDERS, 0);
		assertThat(check(3).allowed()).isTrue();
	}

	@Test
	void callerOnTheAllowListIsNotCharged() {
		Decision decision = charge(ORDERS.with(Dimension.TENANT, "friend"), 2);
		assertThat(decision.reason()).isEqualTo(Decision.Reason.LIST);
		assertThat(this.counters.size()).isZero();
	}

}
