package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Tier;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * While counters do not answer, a cost above an instance's share of a quota passes and is
 * owed. The instance pays the whole debt before it admits anything else.
 */
class DegradedDebtTests {

	private static final Request ACME = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.IP, "192.0.2.1");

	private final AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);

	/** The share of 100/m under local is 15/m, so a cost of 100 takes 400 s. */
	@Test
	void costOfManySharesIsOwedToTheEnd() {
		PolicyRateLimiter limiter = limiter(orders("100/m").onFailure(FailureMode.LOCAL));
		assertThat(check(limiter, ACME, 100).allowed()).isTrue();
		assertThat(check(limiter, ACME, 1).retryAfter()).isEqualTo(Duration.ofSeconds(344));
		pass(Duration.ofSeconds(343));
		assertThat(check(limiter, ACME, 1).allowed()).isFalse();
		pass(Duration.ofSeconds(1));
		assertThat(check(limiter, ACME, 1).allowed()).isTrue();
	}

	@Test
	void debtOutlastsATimeWithoutRequests() {
		PolicyRateLimiter limiter = limiter(orders("100/m").onFailure(FailureMode.LOCAL));
		assertThat(check(limiter, ACME, 100).allowed()).isTrue();
		pass(Duration.ofSeconds(300));
		assertThat(check(limiter, ACME, 100).allowed()).isFalse();
		pass(Duration.ofSeconds(100));
		assertThat(check(limiter, ACME, 100).allowed()).isTrue();
	}

	@Test
	void callerOfAnotherTierDoesNotForgiveADebt() {
		PolicyRateLimiter limiter = limiter(
				orders("100/m").tier("pro", new Tier(Map.of("per-tenant", List.of(Quota.parse("1000/m"))), null))
					.onFailure(FailureMode.LOCAL));
		assertThat(check(limiter, ACME, 100).allowed()).isTrue();
		assertThat(check(limiter, ACME.withTier("pro"), 151).allowed()).isFalse();
		assertThat(check(limiter, ACME, 1).retryAfter()).isEqualTo(Duration.ofSeconds(344));
	}

	@Test
	void costAboveTheWholeBurstOwesNoMoreThanThePolicyEverAdmits() {
		PolicyRateLimiter limiter = limiter(orders("100/m").onFailure(FailureMode.LOCAL));
		assertThat(check(limiter, ACME, 1).allowed()).isTrue();
		pass(Duration.ofSeconds(4));
		assertThat(check(limiter, ACME, 1_000).allowed()).isTrue();
		assertThat(check(limiter, ACME, 1).retryAfter()).isEqualTo(Duration.ofSeconds(400 - 56));
	}

	@ParameterizedTest
	@EnumSource
	void shareOfTheCeilingIsOwedToTheEnd(FailureMode mode) {
		PolicyRateLimiter limiter = limiter(orders("1000/m").degradedCeiling(Quota.parse("100/m")).onFailure(mode));
		assertThat(check(limiter, ACME, 100).outcome()).isNotEqualTo(Decision.Outcome.REFUSED);
		Decision refused = check(limiter, ACME.with(Dimension.TENANT, "globex"), 1);
		assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(546));
		pass(Duration.ofSeconds(500));
		assertThat(check(limiter, ACME.with(Dimension.TENANT, "globex"), 1).retryAfter())
			.isEqualTo(Duration.ofSeconds(46));
	}

	@Test
	void floorIsOwedToTheEnd() {
		PolicyRateLimiter limiter = limiter(orders("1000/m").degradedFloor(Quota.parse("10/m")));
		assertThat(check(limiter, ACME, 100).allowed()).isTrue();
		assertThat(check(limiter, ACME, 1).retryAfter()).isEqualTo(Duration.ofSeconds(546));
	}

	@Test
	void absurdCostOfOneCallerKeepsNoOtherOutForLong() {
		PolicyRateLimiter limiter = limiter(orders("1000/m").degradedCeiling(Quota.parse("100/m"))
			.degradedFloor(Quota.parse("1000/m"))
			.onFailure(FailureMode.LOCAL));
		assertThat(check(limiter, ACME, Quota.MAX_PERMITS).allowed()).isTrue();
		Request globex = ACME.with(Dimension.TENANT, "globex").with(Dimension.IP, "192.0.2.2");
		assertThat(check(limiter, globex, 1).retryAfter()).isBetween(Duration.ofSeconds(5_000),
				Duration.ofSeconds(6_000));
	}

	private void pass(Duration time) {
		this.micros.addAndGet(time.toNanos() / 1_000);
	}

	private static PolicyBuilder orders(String quota) {
		return Policy.builder("orders").limit("per-tenant", List.of(Dimension.TENANT), quota);
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy) {
		PolicySet policies = PolicySet.of(policy.build());
		MemoryCounters memory = new MemoryCounters(1_000, this.micros::get, () -> this.micros.get() * 1_000);
		return RateLimiterBuilder.on(FakeCounters.failing(memory))
			.policies(() -> policies)
			.fallback(new Fallback(memory, () -> 10, () -> null))
			.build();
	}

	private static Decision check(PolicyRateLimiter limiter, Request request, long cost) {
		return join(limiter.check(request.withCost(cost)));
	}

}
