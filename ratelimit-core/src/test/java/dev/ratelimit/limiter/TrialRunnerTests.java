package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;
import dev.ratelimit.Tier;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.BucketTally;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.policy.RolloutJudge;
import dev.ratelimit.policy.Tally;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

class TrialRunnerTests {

	private static final long NOON = 1_700_000_000_000_000L;

	private static final Request ACME = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.IP, "203.0.113.7");

	private final ChosenCounters counters = new ChosenCounters();

	private final List<Decision> seen = new ArrayList<>();

	private final List<Decision> tried = new ArrayList<>();

	private final DecisionListener listener = new DecisionListener() {

		@Override
		public void decided(Request request, Decision decision, long nanos) {
			TrialRunnerTests.this.seen.add(decision);
		}

		@Override
		public void tried(Request request, Decision decision) {
			TrialRunnerTests.this.seen.add(decision);
			TrialRunnerTests.this.tried.add(decision);
		}

	};

	@Test
	void enforcedVersionDecidesAndTheOneInShadowIsReportedAsItsOwn() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"), orders(2, "1/d").shadow(true));
		check(limiter);
		this.seen.clear();
		Decision decision = check(limiter);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.version()).isEqualTo(1);
		assertThat(decision.shadow()).isFalse();
		assertThat(decision.remaining()).isEqualTo(3);
		assertThat(this.seen).extracting(Decision::version).containsExactly(1L, 2L);
		assertThat(this.seen).extracting(Decision::outcome)
			.containsExactly(Decision.Outcome.ALLOWED, Decision.Outcome.SHADOW_REFUSED);
		assertThat(this.seen).extracting(Decision::shadow).containsExactly(false, true);
		assertThat(this.seen.get(1).allowed()).isTrue();
	}

	@Test
	void listenersCanTellWhatWasOnlyTriedFromWhatWasDecided() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d").shadow(true), orders(2, "1/d").shadow(true));
		check(limiter);
		assertThat(this.seen).extracting(Decision::version).containsExactly(1L, 2L);
		assertThat(this.tried).extracting(Decision::version).containsExactly(2L);
	}

	@Test
	void versionInShadowCountsInKeysOfItsOwn() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"), orders(2, "5/d").shadow(true));
		check(limiter);
		assertThat(this.counters.keys).hasSize(2).doesNotHaveDuplicates();
		assertThat(peek(limiter)).extracting(LimitStatus::remaining).containsExactly(4L);
	}

	@Test
	void versionForNobodyIsTriedOutInTheSameWay() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"),
				orders(2, "1/d").rollout(Rollout.COMPLETE.withPercent(0)));
		check(limiter);
		assertThat(check(limiter).version()).isEqualTo(1);
		assertThat(this.seen).extracting(Decision::outcome)
			.containsExactly(Decision.Outcome.ALLOWED, Decision.Outcome.ALLOWED, Decision.Outcome.ALLOWED,
					Decision.Outcome.SHADOW_REFUSED);
	}

	@Test
	void requestThatIsRefusedIsCountedByTheOtherVersionAllTheSame() {
		PolicyRateLimiter limiter = limiter(orders(1, "1/d"), orders(2, "5/d").shadow(true));
		for (int i = 0; i < 6; i++) {
			check(limiter);
		}
		assertThat(this.seen).filteredOn((decision) -> decision.version() == 1)
			.extracting(Decision::allowed)
			.containsExactly(true, false, false, false, false, false);
		assertThat(this.seen).filteredOn((decision) -> decision.version() == 2)
			.extracting(Decision::outcome)
			.endsWith(Decision.Outcome.ALLOWED, Decision.Outcome.SHADOW_REFUSED);
	}

	@Test
	void bothVersionsDecisionsAreCompared() {
		PolicySet policies = policies(orders(1, "2/d"), orders(2, "1/d").shadow(true));
		PolicyRateLimiter limiter = limiter(policies);
		for (int i = 0; i < 5; i++) {
			check(limiter);
		}
		Comparison comparison = policies.comparison("orders");
		assertThat(comparison).isNotNull();
		assertThat(comparison.bothAllowed()).isEqualTo(1);
		assertThat(comparison.onlyNewRefused()).isEqualTo(1);
		assertThat(comparison.onlyOldRefused()).isZero();
		assertThat(comparison.bothRefused()).isEqualTo(3);
		assertThat(comparison.ofPrevious()).isEqualTo(new Tally(5, 3));
		assertThat(comparison.ofNew()).isEqualTo(new Tally(5, 4));
	}

	@Test
	void versionsOfARolloutAreTalliedEachByItsOwnCallers() {
		PolicySet policies = policies(orders(1, "2/d"), orders(2, "1/d").rollout(Rollout.COMPLETE.withPercent(50)));
		PolicyRateLimiter limiter = limiter(policies);
		for (int i = 0; i < 200; i++) {
			join(limiter.check(ACME.with(Dimension.TENANT, "t" + i % 100)));
		}
		Comparison comparison = policies.comparison("orders");
		assertThat(comparison).isNotNull();
		assertThat(comparison.ofPrevious().refusals()).isZero();
		assertThat(comparison.ofNew().refusals()).isEqualTo(comparison.ofNew().decisions() / 2).isPositive();
		assertThat(comparison.ofNew().decisions() + comparison.ofPrevious().decisions()).isEqualTo(200);
		assertThat(comparison.bothAllowed() + comparison.bothRefused()).isZero();
		assertThat(this.counters.keys).hasSize(200);
	}

	@Test
	void bothVersionsOfStagesDecideSampledCallersInCountersOfTheirOwn() {
		PolicySet policies = policies(orders(1, "2/m"), orders(2, "1/m").rollout(stages(50)));
		PolicyRateLimiter limiter = limiter(policies);
		checkTenants(limiter, 3, 2_000);
		List<BucketTally> buckets = policies.comparison("orders").buckets();
		BucketTally all = RolloutJudge.sum(buckets);
		// Of three requests the old version refuses the third, the new one two.
		assertThat(all.decisions()).isPositive();
		assertThat(all.onlyNewRefused()).isEqualTo(all.decisions() / 3);
		assertThat(all.onlyOldRefused()).isZero();
		assertThat(RolloutJudge.isEnough(buckets)).isTrue();
		assertThat(this.seen).hasSize(6_000);
		assertThat(this.tried).isEmpty();
	}

	/** The shared counters of either version would show no refusal at all here. */
	@Test
	void limitThatOnlyTheOtherVersionExceedsIsSeen() {
		for (int percent : new int[] { 1, 99 }) {
			PolicySet policies = policies(orders(1, "5/m"), orders(2, "3/m").rollout(stages(percent)));
			checkTenants(limiter(policies), 4, 2_000);
			BucketTally all = RolloutJudge.sum(policies.comparison("orders").buckets());
			assertThat(all.onlyNewRefused()).as("at %d %%", percent).isEqualTo(all.decisions() / 4).isPositive();
		}
	}

	@Test
	void equalVersionsGiveNoDifferenceWhateverWasUsedBefore() {
		PolicySet policies = policies(orders(1, "3/m"), orders(2, "3/m").rollout(stages(90)));
		PolicyRateLimiter limiter = limiter(policies);
		PolicyRateLimiter before = limiter(PolicySet.of(orders(1, "3/m").build()));
		checkTenants(before, 3, 2_000);
		checkTenants(limiter, 5, 2_000);
		BucketTally all = RolloutJudge.sum(policies.comparison("orders").buckets());
		assertThat(all.decisions()).isPositive();
		assertThat(all.onlyNewRefused()).isZero();
		assertThat(all.onlyOldRefused()).isZero();
	}

	@Test
	void comparingAddsAtMostFivePercent() {
		PolicySet policies = policies(orders(1, "2/m"), orders(2, "1/m").rollout(stages(50)));
		PolicyRateLimiter limiter = limiter(policies);
		checkTenants(limiter, 5, 10_000);
		assertThat(this.counters.keys.size()).isBetween(50_000 * 103 / 100, 50_000 * 105 / 100);
	}

	@Test
	void largeCallerInTheSampleAddsNoMoreAndLeavesTheOthersTheirRoom() {
		PolicySet policies = policies(orders(1, "2/m"), orders(2, "1/m").rollout(stages(50)));
		PolicyRateLimiter limiter = limiter(policies);
		Request whale = IntStream.range(0, 10_000)
			.mapToObj((i) -> ACME.with(Dimension.TENANT, "t" + i))
			.filter((request) -> policies.pair(request) != null)
			.findFirst()
			.orElseThrow();
		for (int i = 0; i < 20_000; i++) {
			join(limiter.check(whale));
			join(limiter.check(ACME.with(Dimension.TENANT, "t" + i % 2_000)));
		}
		assertThat(this.counters.keys.size()).isLessThanOrEqualTo(40_000 * 105 / 100);
		List<BucketTally> buckets = policies.comparison("orders").buckets();
		assertThat(RolloutJudge.isEnough(buckets)).isTrue();
		assertThat(RolloutJudge.sum(buckets).decisions() - buckets.get(policies.bucket(whale)).decisions())
			.isGreaterThan(20_000 * 15 / 1_000);
	}

	@Test
	void refusalsByWindowsLongerThanTheHoldAreNotJudged() {
		PolicySet policies = policies(orders(1, "5/d").limit("fast", List.of(Dimension.TENANT), "1000/m"),
				orders(2, "1/d").limit("fast", List.of(Dimension.TENANT), "1000/m").rollout(stages(50)));
		checkTenants(limiter(policies), 3, 2_000);
		BucketTally all = RolloutJudge.sum(policies.comparison("orders").buckets());
		assertThat(all.decisions()).isPositive();
		assertThat(all.onlyNewRefused()).isZero();
	}

	@Test
	void versionsWithLongWindowsOnlyAreNotCompared() {
		PolicySet policies = policies(orders(1, "5/d"), orders(2, "1/d").rollout(stages(50)));
		checkTenants(limiter(policies), 3, 2_000);
		assertThat(policies.comparison("orders").judges()).isFalse();
		assertThat(this.counters.keys).hasSize(6_000);
	}

	@Test
	void callersWithoutAWindowThatIsJudgedAreNoEvidence() {
		PolicySet policies = policies(orders(1, "5/d").tier("gold", gold()),
				orders(2, "1/d").tier("gold", gold()).rollout(stages(50)));
		PolicyRateLimiter limiter = limiter(policies);
		checkTenants(limiter, 3, 2_000);
		assertThat(policies.comparison("orders").judges()).isTrue();
		assertThat(RolloutJudge.sum(policies.comparison("orders").buckets())).isEqualTo(new BucketTally(0, 0, 0));
		for (int i = 0; i < 2_000; i++) {
			join(limiter.check(ACME.with(Dimension.TENANT, "g" + i).withTier("gold")));
		}
		assertThat(RolloutJudge.isEnough(policies.comparison("orders").buckets())).isTrue();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 99 })
	void callersThatOnlyTheNewVersionLimitsAreJudged(int percent) {
		PolicySet policies = policies(byApiKey(1),
				byApiKey(2).limit("per-ip", List.of(Dimension.IP), "1/m").rollout(stages(percent)));
		checkAnonymous(limiter(policies), 2, 4_000);
		BucketTally all = RolloutJudge.sum(policies.comparison("orders").buckets());
		assertThat(all.onlyNewRefused()).isEqualTo(all.decisions() / 2).isPositive();
		assertThat(RolloutJudge.isEnough(policies.comparison("orders").buckets())).isTrue();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 99 })
	void callersThatOnlyTheNewVersionTurnsAwayAreJudged(int percent) {
		PolicySet policies = policies(byApiKey(0),
				byApiKey(2).onMissingIdentity(MissingIdentity.DENY).rollout(stages(percent)));
		checkAnonymous(limiter(policies), 1, 8_000);
		BucketTally all = RolloutJudge.sum(policies.comparison("orders").buckets());
		assertThat(all.onlyNewRefused()).isEqualTo(all.decisions()).isPositive();
		assertThat(policies.comparison("orders").ofPrevious().refusals()).isZero();
		assertThat(policies.comparison("orders").ofNew().refusals()).isPositive();
	}

	@Test
	void callersThatNoVersionLimitsAreNoEvidence() {
		PolicySet policies = policies(byApiKey(1), byApiKey(2).rollout(stages(50)));
		checkAnonymous(limiter(policies), 1, 8_000);
		assertThat(RolloutJudge.sum(policies.comparison("orders").buckets())).isEqualTo(new BucketTally(0, 0, 0));
		assertThat(this.counters.keys).isEmpty();
	}

	@Test
	void trialShowsCallersThatOnlyItLimitsOrTurnsAway() {
		PolicySet limits = policies(byApiKey(1),
				byApiKey(2).limit("per-ip", List.of(Dimension.IP), "1/m").rollout(stages(0)));
		checkAnonymous(limiter(limits), 2, 100);
		assertThat(RolloutJudge.sum(limits.comparison("orders").buckets())).isEqualTo(new BucketTally(200, 100, 0));
		assertThat(limits.comparison("orders").onlyNewRefused()).isEqualTo(100);
		PolicySet denies = policies(byApiKey(1),
				byApiKey(2).onMissingIdentity(MissingIdentity.DENY).rollout(stages(0)));
		checkAnonymous(limiter(denies), 1, 100);
		assertThat(RolloutJudge.sum(denies.comparison("orders").buckets())).isEqualTo(new BucketTally(100, 100, 0));
		assertThat(this.tried).last().satisfies((decision) -> {
			assertThat(decision.outcome()).isEqualTo(Decision.Outcome.DENIED);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.version()).isEqualTo(2);
		});
	}

	@Test
	void trialBeforeTheFirstStageIsJudgedForAllCallers() {
		PolicySet policies = policies(orders(1, "2/m"), orders(2, "1/m").rollout(stages(0)));
		checkTenants(limiter(policies), 2, 100);
		BucketTally all = RolloutJudge.sum(policies.comparison("orders").buckets());
		assertThat(all).isEqualTo(new BucketTally(200, 100, 0));
	}

	@Test
	void comparisonThatThrowsLeavesItsPlaceToOthers() {
		PolicySet policies = policies(orders(1, "10000/d"), orders(2, "10000/d").shadow(true));
		PolicyRateLimiter limiter = limiter(policies);
		this.counters.throwing = true;
		for (int i = 0; i < 1_500; i++) {
			check(limiter);
		}
		this.counters.throwing = false;
		check(limiter);
		assertThat(policies.comparison("orders").bothAllowed()).isOne();
	}

	@Test
	void nobodyWaitsForTheVersionInShadow() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"), orders(2, "5/d").shadow(true));
		this.counters.trial = new CompletableFuture<>();
		assertThat(limiter.check(ACME).toCompletableFuture()).isCompleted();
		assertThat(this.seen).hasSize(1);
	}

	@Test
	void callerGoesOnBeforeTheVersionInShadowIsAsked() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"), orders(2, "5/d").shadow(true));
		this.counters.deciding = new CompletableFuture<>();
		CompletableFuture<Decision> check = limiter.check(ACME).toCompletableFuture();
		List<Integer> askedByThen = new ArrayList<>();
		check.thenRun(() -> askedByThen.add(this.counters.keys.size()));
		this.counters.deciding.complete(null);
		assertThat(check).isCompleted();
		assertThat(askedByThen).containsExactly(1);
		assertThat(this.counters.keys).hasSize(2);
	}

	@Test
	void failureOfTheVersionInShadowIsIgnored() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"),
				orders(2, "5/d").shadow(true).onFailure(FailureMode.DENY).degradedFloor(Quota.parse("1/d")));
		this.counters.trial = CompletableFuture.failedFuture(new IllegalStateException("down"));
		for (int i = 0; i < 3; i++) {
			assertThat(check(limiter).allowed()).isTrue();
		}
		assertThat(this.seen).extracting(Decision::version).containsOnly(1L);
		assertThat(limiter.degraded()).isNull();
	}

	@Test
	void counterThatThrowsForTheVersionInShadowIsIgnored() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"), orders(2, "5/d").shadow(true));
		this.counters.throwing = true;
		assertThat(check(limiter).allowed()).isTrue();
		assertThat(this.seen).extracting(Decision::version).containsExactly(1L);
	}

	@Test
	void requestThatNoLimitDecidedIsNotCompared() {
		PolicySet policies = policies(orders(1, "5/d"), orders(2, "5/d").shadow(true));
		policies.records().addDenied(ACME.dimensions());
		check(limiter(policies));
		policies.records().removeDenied(ACME.dimensions());
		policies.records().addAllowed(ACME.dimensions());
		check(limiter(policies));
		assertThat(this.counters.keys).isEmpty();
		assertThat(this.seen).extracting(Decision::outcome)
			.containsExactly(Decision.Outcome.DENIED, Decision.Outcome.BYPASSED);
	}

	@Test
	void trialsThatAreNotAnsweredAreBounded() {
		PolicyRateLimiter limiter = limiter(orders(1, "10000/d"), orders(2, "10000/d").shadow(true));
		this.counters.trial = new CompletableFuture<>();
		for (int i = 0; i < 3_000; i++) {
			check(limiter);
		}
		assertThat(this.counters.keys).hasSize(4_000);
		this.counters.trial.completeExceptionally(new IllegalStateException("late"));
		check(limiter);
		assertThat(this.counters.keys).hasSize(4_002);
	}

	@Test
	void resetForgetsWhatTheVersionInShadowCounted() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"), orders(2, "1/d").shadow(true));
		check(limiter);
		join(CallerState.reset(limiter, ACME));
		this.seen.clear();
		check(limiter);
		assertThat(this.seen).extracting(Decision::outcome).containsOnly(Decision.Outcome.ALLOWED);
	}

	private static PolicyBuilder orders(long version, String quota) {
		return Policy.builder("orders").version(version).limit("per-tenant", List.of(Dimension.TENANT), quota);
	}

	private static PolicyBuilder byApiKey(long version) {
		return Policy.builder("orders")
			.version(version)
			.limit("per-key", List.of(Dimension.API_KEY), "5/m")
			.onMissingIdentity(MissingIdentity.SKIP);
	}

	private static Tier gold() {
		return new Tier(Map.of("per-tenant", List.of(Quota.parse("5/m"))), null);
	}

	private static void checkAnonymous(PolicyRateLimiter limiter, int times, int callers) {
		for (int i = 0; i < times * callers; i++) {
			int caller = i % callers;
			join(limiter.check(Request.of("orders").with(Dimension.IP, "10.0." + caller / 250 + "." + caller % 250)));
		}
	}

	private static Rollout stages(int percent) {
		return new Rollout(percent, null, List.of(1, 50, 90, 99, 100), Duration.ofMinutes(2));
	}

	private static void checkTenants(PolicyRateLimiter limiter, int times, int tenants) {
		for (int i = 0; i < times * tenants; i++) {
			join(limiter.check(ACME.with(Dimension.TENANT, "t" + i % tenants)));
		}
	}

	private static PolicySet policies(PolicyBuilder previous, PolicyBuilder next) {
		return PolicySet.of().mutate().put(next.build(), previous.build()).build();
	}

	private PolicyRateLimiter limiter(PolicyBuilder previous, PolicyBuilder next) {
		return limiter(policies(previous, next));
	}

	private PolicyRateLimiter limiter(PolicySet policies) {
		return RateLimiterBuilder.on(new FakeCounters(this.counters.memory, this.counters))
			.policies(() -> policies)
			.fallback(Fallback.to(new MemoryCounters(1_000, () -> NOON)))
			.listeners(List.of(this.listener))
			.build();
	}

	private static Decision check(PolicyRateLimiter limiter) {
		return join(limiter.check(ACME));
	}

	private static List<LimitStatus> peek(PolicyRateLimiter limiter) {
		return join(CallerState.peek(limiter, ACME));
	}

	/**
	 * Counters in memory that answer the first question of each request or the second one
	 * as a test wants it.
	 */
	private static final class ChosenCounters implements FakeCounters.Answer {

		private final Counters memory = new MemoryCounters(100_000, () -> NOON);

		private final List<String> keys = new ArrayList<>();

		private String decidingKey = "";

		private CompletableFuture<Void> deciding;

		private CompletableFuture<Grant> trial;

		private boolean throwing;

		@Override
		public CompletionStage<Grant> to(List<Counter> counters, Permits permits, Duration timeout) {
			String key = counters.get(0).key();
			if (permits.most() > 0) {
				this.keys.add(key);
			}
			this.decidingKey = this.decidingKey.isEmpty() ? key : this.decidingKey;
			boolean second = !key.equals(this.decidingKey);
			if (second && this.throwing) {
				throw new IllegalStateException("broken");
			}
			if (second && this.trial != null) {
				return this.trial;
			}
			CompletionStage<Grant> answer = this.memory.acquire(counters, permits, timeout);
			return (second || this.deciding == null) ? answer : this.deciding.thenCompose((go) -> answer);
		}

	}

}
