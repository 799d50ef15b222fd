package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.UnansweredException;
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

	private final PolicyRateLimiter limiter = RateLimiterBuilder.on(this.counters)
		.policies(() -> this.policies)
		.fallback(Fallback.to(this.counters))
		.build();

	private final List<Settlement> settled = new ArrayList<>();

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

	@ParameterizedTest
	@EnumSource
	void countersThatAnswerAreChargedAndTheOthersAreLost(FailureMode mode) {
		Policy policy = orders().limit("per-ip", List.of(Dimension.IP), "3/m").onFailure(mode).build();
		Counters oneSilent = new FakeCounters(this.counters, (counters, permits, timeout) -> {
			List<Counter> silent = counters.stream().filter(ChargeTests::isPerIp).toList();
			List<Counter> well = counters.stream().filter((counter) -> !isPerIp(counter)).toList();
			return this.counters.acquire(well, permits)
				.thenApply((grant) -> FakeCounters.asRedis(grant, List.of(new Grant.Gap(silent,
						new UnansweredException(Decision.Reason.TIMEOUT, "the node is silent")))));
		});
		charge(limiter(policy, oneSilent), ORDERS.with(Dimension.IP, "192.0.2.1").withCost(2));
		assertThat(used()).isEqualTo(2);
		assertThat(this.settled).containsExactly(Settlement.LOST);
	}

	@Test
	void giveBackNeedsNoReceiptAndNeverRaisesACounterAboveFull() {
		PolicyRateLimiter limiter = limiter(orders().build(), this.counters);
		limiter.checkNow(ORDERS.withCost(3));
		giveBack(limiter, 2);
		assertThat(used()).isEqualTo(1);
		giveBack(limiter, 90_000_000);
		assertThat(used()).isZero();
		assertThat(limiter.checkNow(ORDERS.withCost(3)).allowed()).isTrue();
		assertThat(limiter.checkNow(ORDERS).allowed()).isFalse();
		charge(limiter, ORDERS.withCost(2));
		giveBack(limiter, 3);
		assertThat(used()).isEqualTo(2);
		giveBack(limiter, 0);
		assertThat(used()).isEqualTo(2);
	}

	@Test
	void giveBackOfPermitsWhoseTimeIsMoreThanALongHoldsFillsTheCounter() {
		PolicyRateLimiter limiter = limiter(
				Policy.builder("orders").limit("per-tenant", List.of(Dimension.TENANT), "1/31d").build(),
				this.counters);
		assertThat(limiter.checkNow(ORDERS).allowed()).isTrue();
		giveBack(limiter, 90_000_000);
		assertThat(limiter.checkNow(ORDERS).allowed()).isTrue();
		assertThat(limiter.checkNow(ORDERS).allowed()).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "FIXED_WINDOW", "SLIDING_WINDOW_COUNTER" })
	void windowsTakePermitsBackWhileTheyLast(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(orders().algorithm(algorithm).build(), this.counters);
		limiter.checkNow(ORDERS.withCost(3));
		giveBack(limiter, 1);
		assertThat(limiter.checkNow(ORDERS.withCost(2)).allowed()).isFalse();
		assertThat(limiter.checkNow(ORDERS).allowed()).isTrue();
		this.micros.addAndGet(130_000_000);
		giveBack(limiter, 3);
		assertThat(limiter.checkNow(ORDERS.withCost(4)).allowed()).isFalse();
		assertThat(limiter.checkNow(ORDERS.withCost(3)).allowed()).isTrue();
	}

	private static void giveBack(PolicyRateLimiter limiter, long permits) {
		assertThat(limiter.giveBack(ORDERS.withCost(permits)).toCompletableFuture().join().allowed()).isTrue();
	}

	@Test
	void chargeIsLostIfNoCounterAnswers() {
		Policy policy = orders().onFailure(FailureMode.ALLOW).build();
		charge(limiter(policy, FakeCounters.failing(this.counters)), ORDERS.withCost(2));
		charge(limiter(policy, new FakeCounters(this.counters, (counters, permits, timeout) -> {
			throw new IllegalStateException("a fault of ours");
		})), ORDERS.withCost(2));
		assertThat(this.settled).containsExactly(Settlement.LOST, Settlement.LOST);
		assertThat(used()).isZero();
	}

	private static boolean isPerIp(Counter counter) {
		return counter.spec().limit().name().equals("per-ip");
	}

	private static PolicyBuilder orders() {
		return Policy.builder("orders").limit("per-tenant", List.of(Dimension.TENANT), "3/m");
	}

	private PolicyRateLimiter limiter(Policy policy, Counters counters) {
		return RateLimiterBuilder.on(counters)
			.policies(policy)
			.fallback(Fallback.to(this.counters))
			.listeners(List.of(new DecisionListener() {

				@Override
				public void decided(Request request, Decision decision, long nanos) {
					// Only settles matter here.
				}

				@Override
				public void settled(String policy, Settlement settlement) {
					ChargeTests.this.settled.add(settlement);
				}

			}))
			.build();
	}

	private static Decision charge(PolicyRateLimiter limiter, Request request) {
		return limiter.charge(request).toCompletableFuture().join();
	}

	/** Permits that the tenant has used, above 3 if it owes some. */
	private long used() {
		return used(check(0));
	}

	private static long used(Decision decision) {
		return decision.limits().get(0).resetAfterMicros() / 20_000_000;
	}

}
