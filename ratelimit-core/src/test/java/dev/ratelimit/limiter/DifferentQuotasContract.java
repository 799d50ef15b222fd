package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Tier;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers with different quotas on one counter, by tier, override or record: each is
 * decided by its own quotas, whoever else comes by and whatever shares a call with it.
 */
public abstract class DifferentQuotasContract {

	private static final LimiterOptions PATIENT = new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64);

	private static final Request FREE = Request.of("orders").with(Dimension.TENANT, "acme");

	private static final Request PRO = FREE.withTier("pro");

	private final AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);

	/**
	 * Where counters are kept, empty, on a clock of the test's.
	 */
	protected abstract Counters counters(LongSupplier micros);

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void windowThatOnlyOneTierHasHoldsWhenOthersComeBy(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(policy(algorithm, "5/s").tier("pro", tier("500/s", "40/d")));
		int admitted = 0;
		for (int i = 0; i < 100; i++) {
			check(limiter, FREE, 1);
			admitted += check(limiter, PRO, 1).allowed() ? 1 : 0;
			this.micros.addAndGet(250_000);
		}
		// A log counts whoever was admitted, in every window.
		assertThat(admitted).isLessThanOrEqualTo(40);
		assertThat(admitted).isGreaterThanOrEqualTo((algorithm == Algorithm.SLIDING_WINDOW_LOG) ? 20 : 40);
	}

	@ParameterizedTest
	@EnumSource(names = { "GCRA", "TOKEN_BUCKET" })
	void smallBurstDoesNotRefillALargeOne(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(policy(algorithm, "10/s").tier("pro", tier("10/s burst 100")));
		long admitted = 0;
		for (int i = 0; i < 1_000; i++) {
			admitted += check(limiter, FREE, 1).allowed() ? 1 : 0;
			admitted += check(limiter, PRO, 1).allowed() ? 1 : 0;
			this.micros.addAndGet(10_000);
		}
		assertThat(admitted).isBetween(195L, 200L);
	}

	@ParameterizedTest
	@EnumSource(Algorithm.class)
	void requestsThatShareACallAreDecidedByTheirOwnQuotas(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(policy(algorithm, "5/m").tier("pro", tier("40/m")));
		List<CompletableFuture<Decision>> decisions = IntStream.range(0, 200)
			.mapToObj((i) -> limiter.check((i % 2 == 0) ? FREE : PRO).toCompletableFuture())
			.toList();
		long free = IntStream.range(0, 200).filter((i) -> i % 2 == 0 && decisions.get(i).join().allowed()).count();
		long pro = IntStream.range(0, 200).filter((i) -> i % 2 == 1 && decisions.get(i).join().allowed()).count();
		assertThat(free).isBetween(1L, 5L);
		assertThat(algorithm.hasBurst() ? free * 8 + pro : free + pro).isBetween(33L, 40L);
	}

	@Test
	void twoCallersInTurnsPayWhatTheyTake() {
		PolicyRateLimiter limiter = limiter(
				policy(Algorithm.TOKEN_BUCKET, "10/d burst 90").tier("pro", tier("10/d burst 70")));
		for (int i = 0; i < 35; i++) {
			assertThat(check(limiter, FREE, 1).allowed()).isTrue();
			assertThat(check(limiter, PRO, 1).allowed()).isTrue();
		}
		assertThat(check(limiter, PRO, 1).allowed()).isFalse();
		assertThat(check(limiter, FREE, 20).allowed()).isTrue();
		assertThat(check(limiter, FREE, 1).allowed()).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "GCRA", "TOKEN_BUCKET" })
	void retryAfterIsNeverTooEarly(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(policy(algorithm, "10/s").tier("pro", tier("10/s burst 100")));
		assertThat(check(limiter, PRO, 100).allowed()).isTrue();
		Decision refused = check(limiter, FREE, 1);
		assertThat(refused.retryAfter()).isEqualTo(Duration.ofMillis(9_100));
		this.micros.addAndGet(9_100_000 - 1);
		assertThat(check(limiter, FREE, 1).allowed()).isFalse();
		this.micros.incrementAndGet();
		assertThat(check(limiter, FREE, 1).allowed()).isTrue();
	}

	@Test
	void logKeepsWhatTheLongestWindowNeeds() {
		PolicyRateLimiter limiter = limiter(policy(Algorithm.SLIDING_WINDOW_LOG, "10000/s").tier("pro", tier("100/d")));
		for (int i = 0; i < 100; i++) {
			assertThat(check(limiter, PRO, 1).allowed()).isTrue();
			this.micros.addAndGet(2_000_000);
			assertThat(check(limiter, FREE, 0).allowed()).isTrue();
		}
		assertThat(check(limiter, PRO, 1).allowed()).isFalse();
		assertThat(check(limiter, FREE, 1).allowed()).isTrue();
		assertThat(check(limiter, PRO, 1).retryAfter()).isGreaterThan(Duration.ofHours(23));
	}

	@Test
	void overrideWithAnotherWindowKeepsTheOtherWindows() {
		PolicyRateLimiter limiter = limiter(policy(Algorithm.GCRA, "10/700s").override(
				new PolicyOverride(Map.of(Dimension.USER, "ann"), Map.of("per-tenant", quotas("10/700s", "50/d")))));
		Request ann = FREE.with(Dimension.USER, "ann");
		assertThat(check(limiter, ann, 10).allowed()).isTrue();
		assertThat(check(limiter, FREE, 1).allowed()).isFalse();
		this.micros.addAndGet(70_000_000);
		assertThat(check(limiter, FREE, 1).allowed()).isTrue();
		assertThat(CallerState.peek(limiter, ann).toCompletableFuture().join().get(1).remaining()).isEqualTo(40);
	}

	@Test
	void overrideOfOneCounterLeavesTheCutBackOfOthersAlone() {
		PolicyRateLimiter limiter = limiter(policy(Algorithm.GCRA, "10/s").override(new PolicyOverride(
				Map.of(Dimension.TENANT, "huge"), Map.of("per-tenant", quotas("1/s burst 90000000")))));
		assertThat(check(limiter, FREE, 10).allowed()).isTrue();
		this.micros.addAndGet(-3_600_000_000L);
		Decision refused = check(limiter, FREE, 1);
		assertThat(refused.retryAfter()).isLessThanOrEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void clockThatIsSetBackLocksNobodyOutForLongerThanItsWindowTakes() {
		PolicyRateLimiter limiter = limiter(policy(Algorithm.GCRA, "100/s").tier("pro", tier("100000/d")));
		assertThat(check(limiter, FREE, 100).allowed()).isTrue();
		this.micros.addAndGet(-600_000_000L);
		assertThat(check(limiter, FREE, 1).retryAfter()).isLessThanOrEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void recordForAUserSharesTheCounterOfItsTenant() {
		PolicySet policies = new PolicySet(List.of(policy(Algorithm.GCRA, "10/s").build()), AccessList.EMPTY,
				AccessList.EMPTY);
		policies.records()
			.putOverride("orders", Dimension.USER, "ann", Map.of("per-tenant", quotas("10/s burst 100")), 1);
		PolicyRateLimiter limiter = limiter(policies);
		Request ann = FREE.with(Dimension.USER, "ann");
		assertThat(check(limiter, ann, 100).allowed()).isTrue();
		assertThat(check(limiter, FREE, 1).allowed()).isFalse();
		assertThat(check(limiter, ann, 1).allowed()).isFalse();
		policies.records().removeOverride("orders", Dimension.USER, "ann");
		assertThat(check(limiter, FREE, 1).retryAfter()).isLessThanOrEqualTo(Duration.ofSeconds(1));
	}

	@ParameterizedTest
	@CsvSource({ "GCRA, false, false", "GCRA, false, true", "GCRA, true, false", "GCRA, true, true",
			"TOKEN_BUCKET, false, false", "TOKEN_BUCKET, true, true" })
	void callerWithAnotherOverrideDoesNotCutBackTheCounterOfItsTenant(Algorithm algorithm, boolean tenantByRecord,
			boolean userByRecord) {
		PolicyRateLimiter limiter = limiter(overrides(policy(algorithm, "100/s"), quotas("10/s burst 100"),
				tenantByRecord, quotas("100/s"), userByRecord));
		Request ann = FREE.with(Dimension.USER, "ann");
		assertThat(check(limiter, FREE, 100).allowed()).isTrue();
		assertThat(check(limiter, ann, 1).allowed()).isFalse();
		assertThat(check(limiter, FREE, 1).retryAfter()).isEqualTo(Duration.ofMillis(100));
		this.micros.addAndGet(5_000_000);
		check(limiter, ann, 0);
		assertThat(check(limiter, FREE, 51).allowed()).isFalse();
		assertThat(check(limiter, FREE, 50).allowed()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "false, false", "false, true", "true, false", "true, true" })
	void callerWithAnotherOverrideKeepsTheLogOfItsTenant(boolean tenantByRecord, boolean userByRecord) {
		PolicyRateLimiter limiter = limiter(overrides(policy(Algorithm.SLIDING_WINDOW_LOG, "1000/s"), quotas("100/d"),
				tenantByRecord, quotas("1000/s"), userByRecord));
		Request ann = FREE.with(Dimension.USER, "ann");
		for (int i = 0; i < 50; i++) {
			assertThat(check(limiter, FREE, 1).allowed()).isTrue();
			this.micros.addAndGet(5_000_000);
			assertThat(check(limiter, ann, 1).allowed()).isTrue();
		}
		assertThat(check(limiter, FREE, 1).retryAfter()).isGreaterThan(Duration.ofHours(23));
	}

	/**
	 * A policy in which a tenant and one of its users have overrides. The user's wins:
	 * among records it is the later one, and a configured override that meets a record
	 * names the tenant too.
	 */
	private static PolicySet overrides(PolicyBuilder policy, List<Quota> tenant, boolean tenantByRecord,
			List<Quota> user, boolean userByRecord) {
		if (!tenantByRecord) {
			policy.override(new PolicyOverride(Map.of(Dimension.TENANT, "acme"), Map.of("per-tenant", tenant)));
		}
		if (!userByRecord) {
			policy.override(new PolicyOverride(Map.of(Dimension.TENANT, "acme", Dimension.USER, "ann"),
					Map.of("per-tenant", user)));
		}
		PolicySet policies = new PolicySet(List.of(policy.build()), AccessList.EMPTY, AccessList.EMPTY);
		if (tenantByRecord) {
			policies.records().putOverride("orders", Dimension.TENANT, "acme", Map.of("per-tenant", tenant), 1);
		}
		if (userByRecord) {
			policies.records().putOverride("orders", Dimension.USER, "ann", Map.of("per-tenant", user), 2);
		}
		return policies;
	}

	private static PolicyBuilder policy(Algorithm algorithm, String... quotas) {
		return Policy.builder("orders")
			.algorithm(algorithm)
			.limit(Limit.of("per-tenant", List.of(Dimension.TENANT), quotas));
	}

	private static Tier tier(String... quotas) {
		return new Tier(Map.of("per-tenant", quotas(quotas)), null);
	}

	private static List<Quota> quotas(String... quotas) {
		return List.of(quotas).stream().map(Quota::parse).toList();
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy) {
		return limiter(PolicySet.of(policy.build()));
	}

	private PolicyRateLimiter limiter(PolicySet policies) {
		Counters counters = counters(this.micros::get);
		return RateLimiterBuilder.on(counters)
			.policies(() -> policies)
			.fallback(Fallback.to(counters))
			.options(PATIENT)
			.build();
	}

	private static Decision check(PolicyRateLimiter limiter, Request request, long cost) {
		Decision decision = limiter.check(request.withCost(cost)).toCompletableFuture().join();
		assertThat(decision.degraded()).isFalse();
		return decision;
	}

}
