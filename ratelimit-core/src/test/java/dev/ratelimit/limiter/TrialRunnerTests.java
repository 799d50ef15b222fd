package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.Rollout;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.policy.Tally;

import static org.assertj.core.api.Assertions.assertThat;

class BesideTests {

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
			BesideTests.this.seen.add(decision);
		}

		@Override
		public void tried(Request request, Decision decision) {
			BesideTests.this.seen.add(decision);
			BesideTests.this.tried.add(decision);
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
	void nobodyWaitsForTheVersionInShadow() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"), orders(2, "5/d").shadow(true));
		this.counters.beside = new CompletableFuture<>();
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
		this.counters.beside = CompletableFuture.failedFuture(new IllegalStateException("down"));
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
		this.counters.beside = new CompletableFuture<>();
		for (int i = 0; i < 3_000; i++) {
			check(limiter);
		}
		assertThat(this.counters.keys).hasSize(4_000);
		this.counters.beside.completeExceptionally(new IllegalStateException("late"));
		check(limiter);
		assertThat(this.counters.keys).hasSize(4_002);
	}

	@Test
	void resetForgetsWhatTheVersionInShadowCounted() {
		PolicyRateLimiter limiter = limiter(orders(1, "5/d"), orders(2, "1/d").shadow(true));
		check(limiter);
		join(limiter.reset(ACME));
		this.seen.clear();
		check(limiter);
		assertThat(this.seen).extracting(Decision::outcome).containsOnly(Decision.Outcome.ALLOWED);
	}

	private static PolicyBuilder orders(long version, String quota) {
		return Policy.builder("orders").version(version).limit("per-tenant", List.of(Dimension.TENANT), quota);
	}

	private static PolicySet policies(PolicyBuilder previous, PolicyBuilder next) {
		return PolicySet.of().mutate().put(next.build(), previous.build()).build();
	}

	private PolicyRateLimiter limiter(PolicyBuilder previous, PolicyBuilder next) {
		return limiter(policies(previous, next));
	}

	private PolicyRateLimiter limiter(PolicySet policies) {
		return new PolicyRateLimiter(() -> policies, new CounterKeys("rl"), this.counters,
				Fallback.to(new MemoryCounters(1_000, () -> NOON)), LimiterOptions.DEFAULTS, List.of(this.listener));
	}

	private static Decision check(PolicyRateLimiter limiter) {
		return join(limiter.check(ACME));
	}

	private static List<LimitStatus> peek(PolicyRateLimiter limiter) {
		return join(limiter.peek(ACME));
	}

	private static <T> T join(CompletionStage<T> stage) {
		return stage.toCompletableFuture().join();
	}

	/**
	 * Counters in memory that answer the first question of each request or the second one
	 * as a test wants it.
	 */
	private static final class ChosenCounters implements Counters {

		private final Counters memory = new MemoryCounters(1_000, () -> NOON);

		private final List<String> keys = new ArrayList<>();

		private String decidingKey = "";

		private CompletableFuture<Void> deciding;

		private CompletableFuture<Grant> beside;

		private boolean throwing;

		@Override
		public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
			String key = counters.get(0).key();
			if (permits.most() > 0) {
				this.keys.add(key);
			}
			this.decidingKey = this.decidingKey.isEmpty() ? key : this.decidingKey;
			boolean second = !key.equals(this.decidingKey);
			if (second && this.throwing) {
				throw new IllegalStateException("broken");
			}
			if (second && this.beside != null) {
				return this.beside;
			}
			CompletionStage<Grant> answer = this.memory.acquire(counters, permits, timeout);
			return (second || this.deciding == null) ? answer : this.deciding.thenCompose((go) -> answer);
		}

		@Override
		public CompletionStage<Void> giveBack(Grant grant, long permits) {
			return this.memory.giveBack(grant, permits);
		}

		@Override
		public CompletionStage<Void> reset(List<Counter> counters) {
			return this.memory.reset(counters);
		}

		@Override
		public Decision.Source source() {
			return this.memory.source();
		}

	}

}
