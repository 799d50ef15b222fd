package dev.ratelimit.split;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.limiter.CallerState;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

class SplitCountersTests {

	private static final Limit PER_TENANT = Limit.of("per-tenant", List.of(Dimension.TENANT), "40/m", "100/h")
		.withSplit(4);

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "15/m");

	/** Long enough for a cold start: the search ends when time runs out. */
	private static final LimiterOptions OPTIONS = new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64);

	private static final Request ANN = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.USER, "ann");

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final Nodes counters = new Nodes();

	private final MemoryCounters local = new MemoryCounters(1_000, this.now::get);

	@ParameterizedTest
	@EnumSource
	void allPartsTogetherAdmitExactlyTheLimit(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(Policy.of("orders", algorithm, PER_TENANT));
		assertThat(IntStream.range(0, 60).filter((i) -> check(limiter, ANN).allowed())).hasSize(40);
		assertThat(this.counters.keys).hasSize(4);
	}

	@ParameterizedTest
	@EnumSource
	void severalInstancesAdmitExactlyTheLimit(Algorithm algorithm) {
		Policy policy = Policy.of("orders", algorithm, PER_TENANT);
		List<PolicyRateLimiter> fleet = IntStream.range(0, 3).mapToObj((i) -> limiter(policy)).toList();
		assertThat(IntStream.range(0, 60).filter((i) -> check(fleet.get(i % 3), ANN).allowed())).hasSize(40);
	}

	@Test
	void instanceStaysAtItsPartUntilThatRefuses() {
		PolicyRateLimiter limiter = limiter(PER_TENANT);
		check(limiter, ANN);
		for (int i = 1; i < 10; i++) {
			check(limiter, ANN);
		}
		assertThat(this.counters.keys).hasSize(1);
		assertThat(this.counters.calls).isEqualTo(10);
		check(limiter, ANN);
		check(limiter, ANN);
		assertThat(this.counters.keys).hasSize(2);
		assertThat(this.counters.calls).isEqualTo(13);
	}

	@Test
	void instancesStartAtDifferentParts() {
		// At random: that 200 leave out a part happens once in 10^24.
		for (int i = 0; i < 200; i++) {
			check(limiter(Policy.of("orders", Algorithm.GCRA, PER_TENANT.withQuotas(quotas("4000/m")))), ANN);
		}
		assertThat(this.counters.keys).hasSize(4);
	}

	@Test
	void refusalByAnotherLimitTakesNothingOfAnyPartAndEndsTheSearch() {
		PolicyRateLimiter limiter = limiter(PER_USER, PER_TENANT);
		for (int i = 0; i < 15; i++) {
			assertThat(check(limiter, ANN).allowed()).isTrue();
		}
		int calls = this.counters.calls;
		Decision refused = check(limiter, ANN);
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.refusedBy().limit()).isEqualTo(PER_USER);
		assertThat(this.counters.calls).isEqualTo(calls + 1);
		assertThat(remaining(limiter, ANN)).containsExactly(0L, 25L, 85L);
	}

	@Test
	void triesThatWereRefusedTakeNothingOfTheOtherLimits() {
		PolicyRateLimiter limiter = limiter(PER_USER, PER_TENANT);
		for (int i = 0; i < 40; i++) {
			assertThat(check(limiter, user(i % 4)).allowed()).isTrue();
		}
		assertThat(check(limiter, ANN).allowed()).isFalse();
		assertThat(remaining(limiter, ANN)).containsExactly(15L, 0L, 60L);
		assertThat(remaining(limiter, user(0))).containsExactly(5L, 0L, 60L);
	}

	@Test
	void refusalTellsTheWholeLimitAndTheShortestWait() {
		PolicyRateLimiter limiter = limiter(PER_TENANT);
		for (int i = 0; i < 40; i++) {
			check(limiter, ANN);
			this.now.addAndGet(10_000);
		}
		Decision refused = check(limiter, ANN);
		LimitStatus status = refused.refusedBy();
		assertThat(status.limit()).isEqualTo(PER_TENANT);
		assertThat(status.quota().burst()).isEqualTo(40);
		assertThat(refused.remaining()).isZero();
		// Of the first part's permits one comes back every 6 s, and it is 0.4 s ago.
		assertThat(refused.retryAfter()).isEqualTo(Duration.ofMillis(5_600));
		this.now.addAndGet(5_599_999);
		assertThat(check(limiter, ANN).allowed()).isFalse();
		this.now.addAndGet(1);
		assertThat(check(limiter, ANN).allowed()).isTrue();
	}

	@Test
	void admissionTellsTheBurstOfTheWholeLimitAndAGuessOfWhatIsLeft() {
		Decision decision = check(limiter(PER_TENANT), ANN);
		assertThat(decision.limits()).hasSize(2);
		assertThat(decision.decisive().limit()).isEqualTo(PER_TENANT);
		assertThat(decision.decisive().quota().burst()).isEqualTo(40);
		assertThat(decision.remaining()).isEqualTo(36);
	}

	@Test
	void remainingIsNeverAboveTheBurst() {
		assertThat(check(limiter(PER_TENANT.withQuotas(quotas("41/m"))), ANN.withCost(0)).remaining()).isEqualTo(41);
	}

	@Test
	void costAboveEveryPartNeverFits() {
		Decision decision = check(limiter(PER_TENANT), ANN.withCost(11));
		assertThat(decision.allowed()).isFalse();
		assertThat(decision.neverFits()).isTrue();
		assertThat(this.counters.calls).isOne();
	}

	@Test
	void costThatOnlyTheLargestPartCanHaveIsTakenFromIt() {
		PolicyRateLimiter limiter = limiter(PER_TENANT.withQuotas(quotas("41/m")));
		assertThat(check(limiter, ANN.withCost(11)).allowed()).isTrue();
		Decision refused = check(limiter, ANN.withCost(11));
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.neverFits()).isFalse();
		assertThat(this.counters.calls).isEqualTo(2);
	}

	@Test
	void usageAndResetSeeTheWhole() {
		PolicyRateLimiter limiter = limiter(PER_USER, PER_TENANT);
		for (int i = 0; i < 25; i++) {
			check(limiter, user(i % 3));
		}
		assertThat(remaining(limiter, user(0))).containsExactly(6L, 15L, 75L);
		CallerState.reset(limiter, user(0)).toCompletableFuture().join();
		assertThat(remaining(limiter, user(0))).containsExactly(15L, 40L, 100L);
	}

	@Test
	void whatWasTakenIsGivenBackToItsPart() {
		PolicyRateLimiter limiter = limiter(PER_TENANT);
		for (int i = 0; i < 10; i++) {
			check(limiter, ANN);
		}
		Decision elsewhere = check(limiter, ANN);
		assertThat(remaining(limiter, ANN)).containsExactly(29L, 89L);
		elsewhere.giveBack().toCompletableFuture().join();
		assertThat(remaining(limiter, ANN)).containsExactly(30L, 90L);
	}

	@Test
	void reservationTakesWhatOnePartHas() {
		assertThat(check(limiter(PER_TENANT), ANN.withCost(30).atLeast(5)).granted()).isEqualTo(10);
	}

	@Test
	void partThatDoesNotAnswerIsPassedOver() {
		PolicyRateLimiter limiter = limiter(PER_USER, PER_TENANT);
		check(limiter, ANN);
		this.counters.sick.addAll(this.counters.keysOf("per-tenant"));
		Decision decision = check(limiter, ANN);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.degraded()).isFalse();
		this.counters.sick.clear();
		assertThat(remaining(limiter, ANN)).containsExactly(13L, 38L, 98L);
	}

	@Test
	void whatAPartTookTooLateIsGivenBackIfAnotherServed() {
		PolicyRateLimiter limiter = limiter(PER_TENANT);
		check(limiter, ANN);
		this.counters.sick.addAll(this.counters.keys);
		this.counters.lateSuccess = true;
		assertThat(check(limiter, ANN).allowed()).isTrue();
		this.counters.sick.clear();
		assertThat(remaining(limiter, ANN)).containsExactly(38L, 98L);
	}

	@ParameterizedTest
	@EnumSource(FailureMode.class)
	void failureModeAnswersForAPartOnlyWhenTheOthersRefuse(FailureMode mode) {
		PolicyRateLimiter limiter = limiter(
				Policy.builder("orders").limit(PER_USER).limit(PER_TENANT).onFailure(mode).build());
		check(limiter, user(0));
		this.counters.sick.addAll(this.counters.keysOf("per-tenant"));
		for (int i = 0; i < 30; i++) {
			assertThat(check(limiter, user(i % 3)).degraded()).isFalse();
		}
		Decision decision = check(limiter, ANN);
		assertThat(decision.mode()).isEqualTo(mode);
		assertThat(decision.allowed()).isEqualTo(mode != FailureMode.DENY);
		this.counters.sick.clear();
		assertThat(remaining(limiter, ANN)).containsExactly((mode != FailureMode.DENY) ? 14L : 15L, 9L, 69L);
	}

	@Test
	void otherLimitsStillHoldWhenNoPartAnswers() {
		PolicyRateLimiter limiter = limiter(PER_USER, PER_TENANT);
		this.counters.allPartsSick = true;
		for (int i = 0; i < 15; i++) {
			Decision decision = check(limiter, ANN);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.degraded()).isTrue();
		}
		assertThat(check(limiter, ANN).allowed()).isFalse();
	}

	@Test
	void searchEndsWhenAnotherTryWouldBeTooLate() {
		PolicySet policies = PolicySet
			.of(Policy.builder("orders").limit(PER_TENANT).timeout(Duration.ofMillis(50)).build());
		PolicyRateLimiter limiter = RateLimiterBuilder.on(nodes())
			.policies(() -> policies)
			.fallback(Fallback.to(this.local))
			.options(OPTIONS)
			.build();
		this.counters.delay = Duration.ofMillis(30);
		assertThat(check(limiter, ANN.withCost(10)).allowed()).isTrue();
		Decision refused = check(limiter, ANN);
		assertThat(refused.outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(refused.degraded()).isFalse();
		assertThat(this.counters.calls).isEqualTo(2);
	}

	@Test
	void localModeCountsTheWholeLimitInOnePiece() {
		PolicyRateLimiter limiter = limiter(
				Policy.builder("orders").limit(PER_TENANT).onFailure(FailureMode.LOCAL).build());
		this.counters.allPartsSick = true;
		assertThat(IntStream.range(0, 80).filter((i) -> check(limiter, ANN).allowed())).hasSize(60);
		assertThat(this.local.size()).isOne();
	}

	@Test
	void countersInMemoryAreNotSplit() {
		MemoryCounters memory = new MemoryCounters(1_000, this.now::get);
		PolicyRateLimiter limiter = RateLimiterBuilder.on(memory)
			.policies(Policy.of("orders", Algorithm.GCRA, PER_TENANT))
			.fallback(Fallback.to(this.local))
			.options(OPTIONS)
			.build();
		assertThat(check(limiter, ANN.withCost(40)).allowed()).isTrue();
		assertThat(check(limiter, ANN).allowed()).isFalse();
		assertThat(memory.size()).isOne();
	}

	@Test
	void usedShareOfTheFirstPartStaysWhenTheSplitIsChanged() {
		Splitting[] splitting = { (counter) -> 1 };
		PolicyRateLimiter limiter = RateLimiterBuilder.on(nodes())
			.splitting((counter) -> splitting[0].parts(counter))
			.policies(Policy.of("orders", Algorithm.GCRA, PER_TENANT.withQuotas(quotas("40/m"))))
			.fallback(Fallback.to(this.local))
			.options(OPTIONS)
			.build();
		check(limiter, ANN.withCost(20));
		splitting[0] = Splitting.CONFIGURED;
		assertThat(remaining(limiter, ANN)).containsExactly(35L);
	}

	private static Request user(int number) {
		return ANN.with(Dimension.USER, "user" + number);
	}

	private static List<Quota> quotas(String... quotas) {
		return Limit.of("x", List.of(), quotas).quotas();
	}

	private static Decision check(PolicyRateLimiter limiter, Request request) {
		return limiter.check(request).toCompletableFuture().join();
	}

	private static List<Long> remaining(PolicyRateLimiter limiter, Request request) {
		return CallerState.peek(limiter, request)
			.toCompletableFuture()
			.join()
			.stream()
			.map(LimitStatus::remaining)
			.toList();
	}

	private Counters nodes() {
		return new FakeCounters(this.counters.memory, this.counters);
	}

	private PolicyRateLimiter limiter(Limit... limits) {
		return limiter(Policy.of("orders", Algorithm.GCRA, limits));
	}

	private PolicyRateLimiter limiter(Policy policy) {
		PolicySet policies = PolicySet.of(policy);
		return RateLimiterBuilder.on(nodes())
			.policies(() -> policies)
			.fallback(Fallback.to(this.local))
			.options(OPTIONS)
			.build();
	}

	/**
	 * Counters as they are on several nodes, of which some may not answer.
	 */
	private final class Nodes implements FakeCounters.Answer {

		private final MemoryCounters memory = new MemoryCounters(1_000, SplitCountersTests.this.now::get);

		private final Set<String> keys = new HashSet<>();

		private final List<Counter> asked = new ArrayList<>();

		private final Set<String> sick = new HashSet<>();

		private boolean allPartsSick;

		private boolean lateSuccess;

		private Duration delay = Duration.ZERO;

		private int calls;

		@Override
		public CompletionStage<Grant> to(List<Counter> counters, Permits permits, Duration timeout) {
			this.calls++;
			this.asked.addAll(counters);
			counters.forEach((counter) -> this.keys.add(counter.key()));
			List<Counter> sick = counters.stream().filter(this::isSick).toList();
			List<Counter> well = counters.stream().filter((counter) -> !isSick(counter)).toList();
			if (sick.isEmpty()) {
				CompletableFuture<Grant> taken = this.memory.acquire(counters, permits)
					.thenApply((grant) -> FakeCounters.asRedis(grant, List.of()))
					.toCompletableFuture();
				return this.delay.isZero() ? taken : new CompletableFuture<Grant>().completeOnTimeout(taken.join(),
						this.delay.toMillis(), TimeUnit.MILLISECONDS);
			}
			CompletionStage<Grant> late = this.lateSuccess ? this.memory.acquire(sick, permits)
					: new CompletableFuture<>();
			Grant.Gap gap = new Grant.Gap(sick, new UnansweredException(Decision.Reason.TIMEOUT, "late"), late);
			if (well.isEmpty()) {
				return CompletableFuture.completedStage(Grant.unanswered(permits, gap));
			}
			return this.memory.acquire(well, permits).thenApply((grant) -> FakeCounters.asRedis(grant, List.of(gap)));
		}

		Set<String> keysOf(String limit) {
			Set<String> keys = new HashSet<>();
			this.asked.stream()
				.filter((counter) -> counter.spec().limit().name().equals(limit))
				.forEach((counter) -> keys.add(counter.key()));
			return keys;
		}

		private boolean isSick(Counter counter) {
			return this.sick.contains(counter.key())
					|| (this.allPartsSick && counter.spec().limit().name().equals("per-tenant"));
		}

	}

}
