package dev.ratelimit.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What decides besides the limits: lists, missing identity, shadow, failures.
 */
class PolicyRateLimiterDecisionsTests {

	private static final Request ANN = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.USER, "ann")
		.with(Dimension.IP, "10.0.0.1");

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final List<Decision> observed = new ArrayList<>();

	@Test
	void denyListedCallerIsTurnedAwayEvenIfAllowListed() {
		AccessList acme = new AccessList(List.of(Map.of(Dimension.TENANT, "acme")));
		Decision decision = check(limiter(new PolicySet(List.of(orders().build()), acme, acme), memory()), ANN);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.DENIED);
		assertThat(decision.reason()).isEqualTo(Decision.Reason.LIST);
	}

	@Test
	void allowListedCallerIsNeverLimited() {
		AccessList acme = new AccessList(List.of(Map.of(Dimension.TENANT, "acme")));
		PolicyRateLimiter limiter = limiter(new PolicySet(List.of(orders().build()), acme, AccessList.EMPTY), memory());
		for (int i = 0; i < 10; i++) {
			assertThat(check(limiter, ANN).outcome()).isEqualTo(Decision.Outcome.BYPASSED);
		}
	}

	@Test
	void unverifiedFactMatchesTheDenyListButNotTheAllowList() {
		AccessList key = new AccessList(List.of(Map.of(Dimension.API_KEY, "sk_*")));
		Request request = ANN.withUnverified(Dimension.API_KEY, "sk_1");
		assertThat(check(limiter(new PolicySet(List.of(orders().build()), key, AccessList.EMPTY), memory()), request)
			.outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		assertThat(check(limiter(new PolicySet(List.of(orders().build()), AccessList.EMPTY, key), memory()), request)
			.outcome()).isEqualTo(Decision.Outcome.DENIED);
	}

	@Test
	void missingIdentityIsReplacedByTheTypedIp() {
		PolicyRateLimiter limiter = limiter(orders());
		Request anonymous = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.IP, "10.0.0.1");
		assertThat(check(limiter, anonymous.withCost(3)).allowed()).isTrue();
		assertThat(check(limiter, anonymous).allowed()).isFalse();
		assertThat(check(limiter, anonymous.with(Dimension.IP, "10.0.0.2")).allowed()).isTrue();
		assertThat(check(limiter, anonymous.with(Dimension.USER, "10.0.0.1")).allowed()).isTrue();
	}

	@Test
	void missingIdentityIsTurnedAwayWhenThePolicySaysSo() {
		Decision decision = check(limiter(orders().onMissingIdentity(MissingIdentity.DENY)),
				Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.IP, "10.0.0.1"));
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.reason()).isEqualTo(Decision.Reason.IDENTITY);
	}

	@Test
	void missingIdentityWithoutAnIpIsTurnedAwayRatherThanNotCounted() {
		assertThat(check(limiter(orders()), Request.of("orders")).allowed()).isFalse();
	}

	@Test
	void limitWithoutItsDimensionIsLeftOutWhenThePolicySaysSo() {
		PolicyRateLimiter limiter = limiter(orders().limit("per-tenant", List.of(Dimension.TENANT), "100/m")
			.onMissingIdentity(MissingIdentity.SKIP));
		Decision decision = check(limiter, Request.of("orders").with(Dimension.TENANT, "acme"));
		assertThat(decision.limits()).hasSize(1);
		Decision none = check(limiter, Request.of("orders"));
		assertThat(none.outcome()).isEqualTo(Decision.Outcome.BYPASSED);
		assertThat(none.reason()).isEqualTo(Decision.Reason.IDENTITY);
		assertThat(this.observed).contains(none);
	}

	@Test
	void ipv6NeighboursShareACounter() {
		PolicyRateLimiter limiter = limiter(Policy.builder("orders").limit("per-ip", List.of(Dimension.IP), "3/m"));
		check(limiter, Request.of("orders").with(Dimension.IP, "2001:db8::1").withCost(3));
		assertThat(check(limiter, Request.of("orders").with(Dimension.IP, "2001:db8::ffff")).allowed()).isFalse();
		assertThat(check(limiter, Request.of("orders").with(Dimension.IP, "2001:db8:0:1::1")).allowed()).isTrue();
	}

	@Test
	void shadowCountsAndReportsButNeverRefuses() {
		PolicyRateLimiter limiter = limiter(orders().shadow(true));
		check(limiter, ANN.withCost(3));
		Decision decision = check(limiter, ANN);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.shadow()).isTrue();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.SHADOW_REFUSED);
	}

	@Test
	void failureUnderAllowLetsPassAndSaysThatItIsDegraded() {
		Decision decision = check(limiter(orders(), FakeCounters.failing(memory())), ANN);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.degraded()).isTrue();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.ERROR);
		assertThat(decision.source()).isEqualTo(Decision.Source.NONE);
	}

	@Test
	void failureUnderDenyTurnsAway() {
		Decision decision = check(limiter(orders().onFailure(FailureMode.DENY), FakeCounters.failing(memory())), ANN);
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.ERROR);
	}

	@Test
	void failureUnderLocalCountsAtHalfAsMuchAgain() {
		PolicyRateLimiter limiter = limiter(orders().onFailure(FailureMode.LOCAL), FakeCounters.failing(memory()));
		int admitted = 0;
		for (int i = 0; i < 20; i++) {
			Decision decision = check(limiter, ANN);
			assertThat(decision.source()).isEqualTo(Decision.Source.LOCAL);
			assertThat(decision.degraded()).isTrue();
			admitted += decision.allowed() ? 1 : 0;
		}
		assertThat(admitted).isEqualTo(5);
	}

	@Test
	void floorHoldsPerIpWhileDegradedUnderAllow() {
		PolicyRateLimiter limiter = limiter(orders().degradedFloor(Quota.parse("2/m")), FakeCounters.failing(memory()));
		assertThat(check(limiter, ANN).allowed()).isTrue();
		assertThat(check(limiter, ANN).allowed()).isTrue();
		Decision refused = check(limiter, ANN);
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.refusedBy()).isNotNull();
		assertThat(refused.refusedBy().limit().scope()).isEqualTo("ip");
		assertThat(check(limiter, ANN.with(Dimension.IP, "10.0.0.2")).allowed()).isTrue();
	}

	@Test
	void corruptCounterIsAReasonOfItsOwn() {
		Counters corrupt = new FakeCounters(memory(), (counters, permits, timeout) -> CompletableFuture
			.failedStage(UnansweredException.corrupt(counters.get(0).spec())));
		assertThat(check(limiter(orders(), corrupt), ANN).reason()).isEqualTo(Decision.Reason.CORRUPT);
	}

	@Test
	void countersThatThrowAreAFailureToo() {
		Counters throwing = new FakeCounters(memory(), (counters, permits, timeout) -> {
			throw new IllegalStateException("broken");
		});
		Decision decision = check(limiter(orders(), throwing), ANN);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.reason()).isEqualTo(Decision.Reason.INTERNAL);
	}

	@Test
	void requestThatCouldNotBeResolvedFollowsTheFailureMode() {
		PolicyRateLimiter limiter = limiter(orders().onFailure(FailureMode.DENY));
		Decision decision = limiter.degrade(Request.of("orders"), new IllegalStateException("broken"))
			.toCompletableFuture()
			.join();
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.reason()).isEqualTo(Decision.Reason.INTERNAL);
		assertThat(this.observed).containsExactly(decision);
	}

	@Test
	void denyListHoldsForARequestThatCouldNotBeResolved() {
		AccessList acme = new AccessList(List.of(Map.of(Dimension.TENANT, "acme")));
		PolicyRateLimiter limiter = limiter(new PolicySet(List.of(orders().build()), AccessList.EMPTY, acme), memory());
		Decision decision = limiter.degrade(ANN, new IllegalStateException("broken")).toCompletableFuture().join();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.DENIED);
		assertThat(decision.reason()).isEqualTo(Decision.Reason.LIST);
		assertThat(this.observed).containsExactly(decision);
	}

	@Test
	void denyListHoldsWhileTheSwitchIsOn() {
		AccessList acme = new AccessList(List.of(Map.of(Dimension.TENANT, "acme")));
		PolicySet policies = new PolicySet(List.of(orders().build()), AccessList.EMPTY, acme);
		PolicyRateLimiter limiter = RateLimiterBuilder.on(memory())
			.policies(() -> policies)
			.fallback(new Fallback(memory(), () -> 1, () -> FailureMode.ALLOW))
			.build();
		assertThat(check(limiter, ANN).reason()).isEqualTo(Decision.Reason.LIST);
		assertThat(check(limiter, ANN.with(Dimension.TENANT, "beta")).reason()).isEqualTo(Decision.Reason.SWITCH);
	}

	@Test
	void failureModeThatFailsItselfIsAnsweredAfterTheDenyList() {
		AccessList acme = new AccessList(List.of(Map.of(Dimension.TENANT, "acme")));
		PolicySet policies = new PolicySet(List.of(orders().onFailure(FailureMode.LOCAL).build()), AccessList.EMPTY,
				acme);
		PolicyRateLimiter limiter = RateLimiterBuilder.on(FakeCounters.failing(memory()))
			.policies(() -> policies)
			.fallback(Fallback.to(FakeCounters.failing(memory())))
			.build();
		assertThat(check(limiter, ANN).reason()).isEqualTo(Decision.Reason.LIST);
		Request beta = ANN.with(Dimension.TENANT, "beta");
		assertThat(check(limiter, beta).reason()).isEqualTo(Decision.Reason.INTERNAL);
		assertThat(limiter.degrade(beta, new IllegalStateException()).toCompletableFuture().join().reason())
			.isEqualTo(Decision.Reason.INTERNAL);
	}

	@Test
	void listenerThatThrowsDoesNotChangeTheDecision() {
		DecisionListener throwing = (request, decision, nanos) -> {
			throw new LinkageError("broken");
		};
		PolicyRateLimiter limiter = RateLimiterBuilder.on(memory())
			.policies(orders().build())
			.fallback(Fallback.to(memory()))
			.listeners(List.of(throwing, (request, decision, nanos) -> this.observed.add(decision)))
			.build();
		assertThat(check(limiter, ANN).allowed()).isTrue();
		assertThat(this.observed).hasSize(1);
	}

	@Test
	void everyDecisionIsObservedOnce() {
		PolicyRateLimiter limiter = limiter(orders());
		List<Decision> decisions = List.of(check(limiter, ANN.withCost(3)), check(limiter, ANN));
		assertThat(this.observed).isEqualTo(decisions);
	}

	private static PolicyBuilder orders() {
		return Policy.builder("orders").limit("per-user", List.of(Dimension.TENANT, Dimension.USER), "3/m");
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy) {
		return limiter(policy, memory());
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy, Counters counters) {
		return limiter(PolicySet.of(policy.build()), counters);
	}

	private PolicyRateLimiter limiter(PolicySet policies, Counters counters) {
		return RateLimiterBuilder.on(counters)
			.policies(() -> policies)
			.fallback(Fallback.to(memory()))
			.listeners(List.of((request, decision, nanos) -> this.observed.add(decision)))
			.build();
	}

	private MemoryCounters memory() {
		return new MemoryCounters(1_000, this.now::get);
	}

	private static Decision check(PolicyRateLimiter limiter, Request request) {
		return limiter.check(request).toCompletableFuture().join();
	}

}
