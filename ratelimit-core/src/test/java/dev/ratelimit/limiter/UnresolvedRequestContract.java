package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Request.Unresolved;
import dev.ratelimit.Tier;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for a request of which something could not be found out, wherever counters
 * are kept: a caller that makes something fail never gets more than it would without.
 */
public abstract class UnresolvedRequestContract {

	private static final Dimension ACCOUNT = new Dimension("account");

	private static final Unresolved COST = new Unresolved(Set.of(), true, false);

	private static final Unresolved KEY = new Unresolved(Set.of(), false, true);

	private static final Unresolved NO_ACCOUNT = new Unresolved(Set.of(ACCOUNT), false, false);

	/** A check that is late would be let pass without being counted. */
	private static final LimiterOptions PATIENT = new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64);

	private final Request caller = Request.of("orders").with(Dimension.IP, "10.0.0.1");

	private final List<Request> observed = new ArrayList<>();

	/**
	 * Where counters are kept, empty.
	 */
	protected abstract Counters counters();

	@Test
	void dimensionThatFailedIsCountedByTheIpWhereAMissingOneIsLeftOut() {
		PolicyRateLimiter limiter = limiter(
				policy().limit("per-account", List.of(ACCOUNT), "2/h").onMissingIdentity(MissingIdentity.SKIP));
		assertThat(check(limiter, this.caller).outcome()).isEqualTo(Decision.Outcome.BYPASSED);
		Request failed = this.caller.withUnresolved(NO_ACCOUNT);
		assertThat(check(limiter, failed.withCost(2)).outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		assertThat(check(limiter, failed).outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(check(limiter, failed.with(Dimension.IP, "10.0.0.2")).allowed()).isTrue();
	}

	@Test
	void dimensionThatFailedWithoutAnIpIsTurnedAwayRatherThanNotCounted() {
		PolicyRateLimiter limiter = limiter(
				policy().limit("per-account", List.of(ACCOUNT), "2/h").onMissingIdentity(MissingIdentity.SKIP));
		Decision decision = check(limiter, Request.of("orders").withUnresolved(NO_ACCOUNT));
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.DENIED);
		assertThat(decision.reason()).isEqualTo(Decision.Reason.IDENTITY);
	}

	@Test
	void dimensionThatFailedIsAMissingIdentityWhereThatIsDenied() {
		PolicyRateLimiter limiter = limiter(
				policy().limit("per-account", List.of(ACCOUNT), "2/h").onMissingIdentity(MissingIdentity.DENY));
		assertThat(check(limiter, this.caller.withUnresolved(NO_ACCOUNT)).reason()).isEqualTo(Decision.Reason.IDENTITY);
	}

	@Test
	void unknownCostIsTheSmallestBurstThatHoldsForTheCaller() {
		PolicyRateLimiter limiter = limiter(policy().limit("per-ip", List.of(Dimension.IP), "100/h burst 50", "10/d")
			.limit("all", List.of(), "30/h")
			.tier("pro", new Tier(Map.of("per-ip", List.of(Quota.parse("20/h"))), null)));
		Decision decision = check(limiter, this.caller.withUnresolved(COST));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.cost()).isEqualTo(10);
		assertThat(decision.granted()).isEqualTo(10);
		assertThat(this.observed.get(0).cost()).isEqualTo(10);
		assertThat(check(limiter, this.caller).outcome()).isEqualTo(Decision.Outcome.REFUSED);
		Request pro = this.caller.withTier("pro").with(Dimension.IP, "10.0.0.2").withUnresolved(COST);
		assertThat(check(limiter, pro).cost()).isEqualTo(20);
	}

	@Test
	void unknownCostThatDoesNotFitNowIsRefusedWithAWait() {
		PolicyRateLimiter limiter = limiter(policy().limit("per-ip", List.of(Dimension.IP), "10/h"));
		check(limiter, this.caller);
		Decision decision = check(limiter, this.caller.withUnresolved(COST));
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(decision.neverFits()).isFalse();
		assertThat(decision.retryAfter()).isPositive();
	}

	@Test
	void unknownCostOfASplitLimitFitsIntoOnePart() {
		PolicyRateLimiter limiter = limiter(
				Policy.builder("orders").limit(Limit.of("all", List.of(), "12/h").withSplit(4)));
		Decision decision = check(limiter, this.caller.withUnresolved(COST));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.cost()).isEqualTo((counters().source() == Decision.Source.MEMORY) ? 12 : 3);
	}

	@Test
	void failedKeyDegradesTheLimitByTenantAndTheOthersHold() {
		PolicyRateLimiter limiter = limiter(policy().limit("per-tenant", List.of(Dimension.TENANT), "1/h")
			.limit("per-ip", List.of(Dimension.IP), "3/h"));
		Request request = this.caller.withUnverified(Dimension.API_KEY, "sk_1").withUnresolved(KEY);
		for (int i = 0; i < 3; i++) {
			Decision decision = check(limiter, request);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.degraded()).isTrue();
			assertThat(decision.reason()).isEqualTo(Decision.Reason.API_KEY);
		}
		Decision refused = check(limiter, request);
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(refused.refusedBy()).isNotNull();
		assertThat(refused.refusedBy().limit().name()).isEqualTo("per-ip");
	}

	@Test
	void failedKeyUnderDenyTakesNothingFromTheLimitsThatHold() {
		PolicyBuilder policy = policy().limit("per-tenant", List.of(Dimension.TENANT), "1/h")
			.limit("per-ip", List.of(Dimension.IP), "1/h")
			.onFailure(FailureMode.DENY);
		PolicyRateLimiter limiter = limiter(policy);
		Decision decision = check(limiter, this.caller.withUnresolved(KEY));
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.ERROR);
		assertThat(check(limiter, this.caller.with(Dimension.TENANT, "acme")).allowed()).isTrue();
	}

	@Test
	void failedKeyUnderLocalIsCountedByTheIpInThisProcess() {
		PolicyRateLimiter limiter = limiter(
				policy().limit("per-tenant", List.of(Dimension.TENANT), "4/h").onFailure(FailureMode.LOCAL));
		int admitted = 0;
		for (int i = 0; i < 20; i++) {
			admitted += check(limiter, this.caller.withUnresolved(KEY)).allowed() ? 1 : 0;
		}
		assertThat(admitted).isEqualTo(6);
	}

	@Test
	void failedKeyIsNoMissingIdentity() {
		PolicyRateLimiter limiter = limiter(
				policy().limit("per-tenant", List.of(Dimension.TENANT), "1/h").onMissingIdentity(MissingIdentity.DENY));
		Decision decision = check(limiter, this.caller.withUnresolved(KEY));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.ERROR);
		assertThat(decision.reason()).isEqualTo(Decision.Reason.API_KEY);
	}

	@Test
	void failedKeyDegradesALimitWhoseQuotasATierChangesUnlessTheTierIsKnown() {
		PolicySet policies = PolicySet.of(policy().limit("per-ip", List.of(Dimension.IP), "1/h")
			.tier("pro", new Tier(Map.of("per-ip", List.of(Quota.parse("5/h"))), null))
			.build());
		PolicyRateLimiter limiter = limiter(policies);
		assertThat(check(limiter, this.caller.withUnresolved(KEY)).degraded()).isTrue();
		Request known = this.caller.withTier("pro").withUnresolved(KEY);
		assertThat(check(limiter, known.withCost(5)).degraded()).isFalse();
		assertThat(check(limiter, known).outcome()).isEqualTo(Decision.Outcome.REFUSED);
		policies.records().putTier(Dimension.USER, "ann", "pro", 1);
		Request assigned = this.caller.with(Dimension.USER, "ann").withUnresolved(KEY);
		assertThat(check(limiter, assigned).outcome()).isEqualTo(Decision.Outcome.REFUSED);
	}

	@Test
	void failedKeyChangesNothingWhereAllIsKnown() {
		PolicyRateLimiter limiter = limiter(policy().limit("per-tenant", List.of(Dimension.TENANT), "1/h")
			.limit("per-key", List.of(Dimension.API_KEY), "9/h"));
		Request request = this.caller.with(Dimension.TENANT, "acme")
			.withUnverified(Dimension.API_KEY, "sk_1")
			.withUnresolved(KEY);
		assertThat(check(limiter, request).degraded()).isFalse();
		assertThat(check(limiter, request).outcome()).isEqualTo(Decision.Outcome.REFUSED);
	}

	@Test
	void denyListHoldsWhateverFailed() {
		AccessList list = new AccessList(List.of(Map.of(Dimension.IP, "10.0.0.1")));
		PolicyRateLimiter limiter = limiter(
				new PolicySet(List.of(policy().limit("per-ip", List.of(Dimension.IP), "9/h").build()), list, list));
		for (Unresolved unresolved : List.of(Unresolved.NOTHING, COST, KEY, NO_ACCOUNT)) {
			Request request = this.caller.withUnresolved(unresolved);
			assertThat(check(limiter, request).reason()).isEqualTo(Decision.Reason.LIST);
			Decision degraded = limiter.degrade(request, new IllegalStateException()).toCompletableFuture().join();
			assertThat(degraded.outcome()).isEqualTo(Decision.Outcome.DENIED);
			assertThat(degraded.reason()).isEqualTo(Decision.Reason.LIST);
		}
	}

	private PolicyBuilder policy() {
		return Policy.builder("orders");
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy) {
		return limiter(PolicySet.of(policy.build()));
	}

	private PolicyRateLimiter limiter(PolicySet policies) {
		return RateLimiterBuilder.on(counters())
			.policies(() -> policies)
			.fallback(Fallback.to(new MemoryCounters(1_000, MemoryCounters::systemMicros)))
			.options(PATIENT)
			.listeners(List.of((request, decision, nanos) -> this.observed.add(request)))
			.build();
	}

	private static Decision check(PolicyRateLimiter limiter, Request request) {
		return limiter.check(request).toCompletableFuture().join();
	}

}
