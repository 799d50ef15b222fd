package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
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
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The quota of all callers of a policy together while counters do not answer.
 */
class DegradedCeilingTests {

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final AtomicInteger instances = new AtomicInteger(1);

	private final AtomicInteger callers = new AtomicInteger();

	private FailureMode forced;

	@ParameterizedTest
	@EnumSource
	void holdsForAllCallersTogetherUnderEveryFailureMode(FailureMode mode) {
		PolicyRateLimiter limiter = limiter(orders("4/m").onFailure(mode));
		for (int i = 0; i < 4; i++) {
			assertThat(check(limiter, caller()).outcome()).isNotEqualTo(Decision.Outcome.REFUSED);
		}
		Decision refused = check(limiter, caller());
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(refused.mode()).isEqualTo(mode);
		assertThat(refused.refusedBy()).isNotNull();
		assertThat(refused.refusedBy().limit().name()).isEqualTo("degraded-ceiling");
		assertThat(refused.refusedBy().limit().scope()).isEqualTo("policy");
		assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(15));
	}

	@ParameterizedTest
	@EnumSource
	void holdsUnderEveryModeOfTheSwitch(FailureMode mode) {
		PolicyRateLimiter limiter = limiter(orders("4/m"), memory());
		this.forced = mode;
		for (int i = 0; i < 4; i++) {
			assertThat(check(limiter, caller()).outcome()).isNotEqualTo(Decision.Outcome.REFUSED);
		}
		Decision refused = check(limiter, caller());
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(refused.reason()).isEqualTo(Decision.Reason.SWITCH);
		assertThat(refused.refusedBy().limit().name()).isEqualTo("degraded-ceiling");
	}

	@Test
	void comesBackWithTime() {
		PolicyRateLimiter limiter = limiter(orders("4/m"));
		assertThat(admitted(limiter, 10)).isEqualTo(4);
		this.now.addAndGet(Duration.ofSeconds(30).toNanos() / 1_000);
		assertThat(admitted(limiter, 10)).isEqualTo(2);
	}

	@Test
	void isOffWhileCountersAnswer() {
		PolicyRateLimiter limiter = limiter(orders("1/m"), memory());
		assertThat(admitted(limiter, 10)).isEqualTo(10);
	}

	@Test
	void isDividedByTheLiveInstances() {
		this.instances.set(4);
		assertThat(admitted(limiter(orders("20/m")), 30)).isEqualTo(5);
	}

	@Test
	void isAtLeastOnePermitPerInstance() {
		this.instances.set(50);
		assertThat(admitted(limiter(orders("20/m")), 30)).isEqualTo(1);
	}

	@Test
	void followsTheSizeOfTheFleetAndKeepsTheUsedShare() {
		PolicyRateLimiter limiter = limiter(orders("40/m"));
		assertThat(admitted(limiter, 20)).isEqualTo(20);
		this.instances.set(4);
		assertThat(admitted(limiter, 20)).isEqualTo(5);
		this.now.addAndGet(Duration.ofMinutes(1).toNanos() / 1_000);
		assertThat(admitted(limiter, 20)).isEqualTo(10);
	}

	@Test
	void policiesHaveCeilingsOfTheirOwn() {
		PolicySet policies = PolicySet.of(orders("1/m").build(),
				Policy.builder("search")
					.limit("per-user", List.of(Dimension.USER), "10/m")
					.degradedCeiling(Quota.parse("1/m"))
					.build());
		PolicyRateLimiter limiter = limiter(policies, FakeCounters.failing(memory()));
		assertThat(check(limiter, caller()).allowed()).isTrue();
		assertThat(check(limiter, caller()).allowed()).isFalse();
		assertThat(check(limiter, Request.of("search").with(Dimension.USER, "ann")).allowed()).isTrue();
	}

	@Test
	void requestThatItsOwnShareRefusesTakesNothingFromTheCeiling() {
		PolicyRateLimiter limiter = limiter(
				orders("4/m").limit("per-ip", List.of(Dimension.IP), "1/m").onFailure(FailureMode.LOCAL));
		Request greedy = caller();
		for (int i = 0; i < 20; i++) {
			check(limiter, greedy);
		}
		// Its share is one and a half, rounded to 2: so two of the four are left.
		assertThat(admitted(limiter, 10)).isEqualTo(2);
	}

	@Test
	void requestThatTheFloorRefusesTakesNothingFromTheCeiling() {
		PolicyRateLimiter limiter = limiter(orders("4/m").degradedFloor(Quota.parse("1/m")));
		Request greedy = caller();
		for (int i = 0; i < 20; i++) {
			check(limiter, greedy);
		}
		assertThat(admitted(limiter, 10)).isEqualTo(3);
	}

	@Test
	void requestThatTheCeilingRefusesTakesNothingFromTheFloorNorFromItsShare() {
		PolicyRateLimiter limiter = limiter(orders("1/s").limit("per-ip", List.of(Dimension.IP), "2/d")
			.degradedFloor(Quota.parse("3/d"))
			.onFailure(FailureMode.LOCAL));
		Request patient = caller();
		assertThat(check(limiter, caller()).allowed()).isTrue();
		for (int i = 0; i < 20; i++) {
			assertThat(check(limiter, patient).refusedBy().limit().name()).isEqualTo("degraded-ceiling");
		}
		for (int i = 0; i < 3; i++) {
			this.now.addAndGet(Duration.ofSeconds(1).toNanos() / 1_000);
			assertThat(check(limiter, patient).allowed()).isTrue();
		}
	}

	@Test
	void manyAddressesDoNotPushTheCeilingOut() {
		PolicyRateLimiter limiter = limiter(orders("10/d").degradedFloor(Quota.parse("5/d")));
		assertThat(admitted(limiter, 20_000)).isEqualTo(10);
	}

	@Test
	void costAboveTheShareOfAnInstancePassesWhenItIsFullAndIsOwed() {
		this.instances.set(10);
		PolicyRateLimiter limiter = limiter(Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "20/m")
			.degradedCeiling(Quota.parse("100/m")));
		assertThat(check(limiter, caller().withCost(15)).allowed()).isTrue();
		this.now.addAndGet(Duration.ofSeconds(35).toNanos() / 1_000);
		assertThat(check(limiter, caller()).allowed()).isFalse();
		this.now.addAndGet(Duration.ofSeconds(1).toNanos() / 1_000);
		assertThat(check(limiter, caller()).allowed()).isTrue();
	}

	@Test
	void shadowReportsTheRefusalAndLetsPass() {
		PolicyRateLimiter limiter = limiter(orders("1/m").shadow(true));
		check(limiter, caller());
		Decision decision = check(limiter, caller());
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.SHADOW_REFUSED);
	}

	@Test
	void allowListPassesAndTakesNothingAndDenyListRefusesAsAList() {
		AccessList allowed = new AccessList(List.of(Map.of(Dimension.IP, "192.0.2.1")));
		AccessList denied = new AccessList(List.of(Map.of(Dimension.IP, "192.0.2.2")));
		PolicyRateLimiter limiter = limiter(new PolicySet(List.of(orders("1/m").build()), allowed, denied),
				FakeCounters.failing(memory()));
		for (int i = 0; i < 5; i++) {
			assertThat(check(limiter, caller().with(Dimension.IP, "192.0.2.1")).allowed()).isTrue();
			assertThat(check(limiter, caller().with(Dimension.IP, "192.0.2.2")).reason())
				.isEqualTo(Decision.Reason.LIST);
		}
		assertThat(admitted(limiter, 5)).isEqualTo(1);
	}

	private int admitted(PolicyRateLimiter limiter, int requests) {
		int admitted = 0;
		for (int i = 0; i < requests; i++) {
			admitted += check(limiter, caller()).allowed() ? 1 : 0;
		}
		return admitted;
	}

	/** Another caller each time. */
	private Request caller() {
		int number = this.callers.incrementAndGet();
		return Request.of("orders")
			.with(Dimension.USER, "user-" + number)
			.with(Dimension.IP, "10." + (number >> 16) + "." + (number >> 8 & 255) + "." + (number & 255));
	}

	private static PolicyBuilder orders(String ceiling) {
		return Policy.builder("orders")
			.limit("per-user", List.of(Dimension.USER), "10/m")
			.degradedCeiling(Quota.parse(ceiling));
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy) {
		return limiter(policy, FakeCounters.failing(memory()));
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy, Counters counters) {
		return limiter(PolicySet.of(policy.build()), counters);
	}

	private PolicyRateLimiter limiter(PolicySet policies, Counters counters) {
		Fallback fallback = new Fallback(memory(), this.instances::get, () -> this.forced);
		return RateLimiterBuilder.on(counters).policies(() -> policies).fallback(fallback).build();
	}

	private MemoryCounters memory() {
		return new MemoryCounters(1_000, this.now::get);
	}

	private static Decision check(PolicyRateLimiter limiter, Request request) {
		return join(limiter.check(request));
	}

}
