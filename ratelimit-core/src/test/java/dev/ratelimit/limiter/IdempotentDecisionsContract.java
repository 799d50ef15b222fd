package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyBuilder;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.Settling;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Decisions about requests that are sent again, on counters of any kind.
 */
public abstract class IdempotentDecisionsContract {

	private static final Request ANN = Request.of("payments")
		.with(Dimension.USER, "ann")
		.with(Dimension.IP, "192.0.2.1");

	private static final Request ANN_A = ANN.withIdempotencyKey("a");

	private final Counters counters = counters();

	private final Queue<String> settled = new ConcurrentLinkedQueue<>();

	private final DecisionListener listener = new DecisionListener() {

		@Override
		public void decided(Request request, Decision decision, long nanos) {
		}

		@Override
		public void settled(String policy, Settlement settlement) {
			IdempotentDecisionsContract.this.settled.add(settlement.text());
		}

	};

	/** Empty counters. */
	protected abstract Counters counters();

	@ParameterizedTest
	@EnumSource
	void retryIsAdmittedAndNotCounted(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(payments("2/30d").algorithm(algorithm));
		assertThat(join(limiter.check(ANN_A)).replay()).isFalse();
		Decision retry = join(limiter.check(ANN_A));
		assertThat(retry.replay()).isTrue();
		assertThat(retry.allowed()).isTrue();
		assertThat(retry.outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		assertThat(remaining(limiter)).isOne();
	}

	@Test
	void requestsWithoutAKeyOrWithAnotherOneAreCounted() {
		PolicyRateLimiter limiter = limiter(payments("10/30d"));
		join(limiter.check(ANN_A));
		assertThat(join(limiter.check(ANN)).replay()).isFalse();
		assertThat(join(limiter.check(ANN.withIdempotencyKey("b"))).replay()).isFalse();
		assertThat(remaining(limiter)).isEqualTo(7);
	}

	@Test
	void keyHasNoEffectInAPolicyWithoutIdempotency() {
		PolicyRateLimiter limiter = limiter(payments("10/30d").idempotency(null));
		join(limiter.check(ANN_A));
		assertThat(join(limiter.check(ANN_A)).replay()).isFalse();
		assertThat(remaining(limiter)).isEqualTo(8);
	}

	@Test
	void sameKeyOfAnotherCallerIsCounted() {
		PolicyRateLimiter limiter = limiter(payments("10/30d"));
		join(limiter.check(ANN_A));
		Decision bob = join(limiter.check(ANN_A.with(Dimension.USER, "bob")));
		assertThat(bob.replay()).isFalse();
		assertThat(bob.remaining()).isEqualTo(9);
	}

	@Test
	void requestThatAcceptsAPartOrOnlyReadsIsNoAttempt() {
		PolicyRateLimiter limiter = limiter(payments("10/30d"));
		join(limiter.check(ANN_A.withCost(2).atLeast(1)));
		assertThat(join(limiter.check(ANN_A.withCost(2).atLeast(1))).replay()).isFalse();
		assertThat(join(limiter.check(ANN_A.withCost(0))).replay()).isFalse();
		assertThat(remaining(limiter)).isEqualTo(6);
	}

	@ParameterizedTest
	@EnumSource
	void attemptThatAnotherLimitRefusesTakesNothing(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(
				payments("10/30d").algorithm(algorithm).limit("per-ip", List.of(Dimension.IP), "1/30d"));
		join(limiter.check(ANN.with(Dimension.USER, "bob")));
		assertThat(join(limiter.check(ANN_A)).allowed()).isFalse();
		assertThat(join(limiter.check(ANN_A)).allowed()).isFalse();
		assertThat(remainingOfUser(limiter)).isEqualTo(10);
	}

	@ParameterizedTest
	@EnumSource
	void givenBackAttemptIsCountedAnew(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(payments("10/30d").algorithm(algorithm));
		Decision first = join(limiter.check(ANN_A));
		Decision second = join(limiter.check(ANN_A));
		join(second.giveBack());
		assertThat(remaining(limiter)).isEqualTo(9);
		join(first.giveBack());
		join(first.giveBack());
		assertThat(remaining(limiter)).isEqualTo(10);
		assertThat(join(limiter.check(ANN_A)).replay()).isFalse();
	}

	@Test
	void rememberedRefusalDoesNotAnswerARetry() {
		PolicyRateLimiter limiter = limiter(payments("1/30d"));
		join(limiter.check(ANN_A));
		assertThat(join(limiter.check(ANN)).allowed()).isFalse();
		assertThat(join(limiter.check(ANN)).allowed()).isFalse();
		assertThat(join(limiter.check(ANN_A)).replay()).isTrue();
	}

	@Test
	void leaseDoesNotAnswerARequestWithAKey() {
		PolicyRateLimiter limiter = limiter(payments("100000/s").enforcement(Enforcement.LEASED));
		await().atMost(Duration.ofSeconds(60))
			.until(() -> this.counters.source() == Decision.Source.MEMORY || IntStream.range(0, 500)
				.anyMatch((i) -> join(limiter.check(ANN)).source() == Decision.Source.LEASE));
		assertThat(join(limiter.check(ANN_A)).source()).isEqualTo(this.counters.source());
		assertThat(join(limiter.check(ANN_A)).replay()).isTrue();
	}

	@Test
	void retryFindsThePartThatGranted() {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), "40/30d").withSplit(4);
		PolicyRateLimiter one = limiter(Policy.builder("payments").limit(limit).idempotency(idempotency()));
		PolicyRateLimiter other = limiter(Policy.builder("payments").limit(limit).idempotency(idempotency()));
		for (int i = 0; i < 20; i++) {
			Request request = ANN.withIdempotencyKey("key-" + i);
			assertThat(join(one.check(request)).replay()).isFalse();
			Decision retry = join(other.check(request));
			assertThat(retry.replay()).isTrue();
			join(retry.giveBack());
		}
		assertThat(join(this.counters.read(new CounterResolver(new CounterKeys("rl"), 64)
			.resolve(PolicySet.of(Policy.builder("payments").limit(limit).build()).match(ANN), ANN))).statuses()
			.get(0)
			.remaining()).isEqualTo(20);
	}

	@Test
	void trialCountsARetryOnceToo() {
		PolicySet policies = PolicySet.of()
			.mutate()
			.put(payments("20/30d").version(2).shadow(true).build(), payments("10/30d").version(1).build())
			.build();
		PolicyRateLimiter limiter = limiter(policies);
		join(limiter.check(ANN_A));
		await().atMost(Duration.ofSeconds(60)).until(() -> trialRemaining(policies) == 19);
		assertThat(join(limiter.check(ANN_A)).replay()).isTrue();
		join(limiter.check(ANN.withIdempotencyKey("b")));
		await().atMost(Duration.ofSeconds(60)).until(() -> trialRemaining(policies) == 18);
	}

	/** What the version on trial has left. */
	private long trialRemaining(PolicySet policies) {
		Match match = policies.trial(ANN);
		assertThat(match).isNotNull();
		return join(this.counters.read(new CounterResolver(new CounterKeys("rl"), 64).resolve(match, ANN))).statuses()
			.get(0)
			.remaining();
	}

	@ParameterizedTest
	@EnumSource
	void firstSettleOfTwoAttemptsCounts(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(settling(algorithm));
		Decision first = join(limiter.check(ANN_A.withCost(4)));
		Decision second = join(limiter.check(ANN_A.withCost(4)));
		assertThat(join(second.settle(6))).isEqualTo(Settlement.SETTLED);
		assertThat(join(first.settle(1))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(limiter)).isEqualTo(14);
	}

	@ParameterizedTest
	@EnumSource
	void retryOfACancelledRequestIsCounted(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(settling(algorithm));
		assertThat(join(join(limiter.check(ANN_A.withCost(4))).cancel())).isEqualTo(Settlement.REFUNDED);
		Decision retry = join(limiter.check(ANN_A.withCost(4)));
		assertThat(retry.replay()).isFalse();
		assertThat(join(retry.settle(3))).isEqualTo(Settlement.REFUNDED);
		assertThat(remaining(limiter)).isEqualTo(17);
	}

	@ParameterizedTest
	@EnumSource
	void replayThatIsGivenBackLeavesTheCostToTheFirstAttempt(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(settling(algorithm));
		Decision first = join(limiter.check(ANN_A.withCost(4)));
		Decision second = join(limiter.check(ANN_A.withCost(4)));
		join(second.giveBack());
		assertThat(remaining(limiter)).isEqualTo(16);
		assertThat(join(first.settle(7))).isEqualTo(Settlement.SETTLED);
		assertThat(remaining(limiter)).isEqualTo(13);
	}

	@ParameterizedTest
	@EnumSource
	void firstAttemptThatIsGivenBackLeavesTheCostToAReplay(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(settling(algorithm));
		Decision first = join(limiter.check(ANN_A.withCost(4)));
		Decision second = join(limiter.check(ANN_A.withCost(4)));
		join(first.giveBack());
		assertThat(remaining(limiter)).isEqualTo(16);
		assertThat(join(second.settle(7))).isEqualTo(Settlement.SETTLED);
		assertThat(join(first.settle(1))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(limiter)).isEqualTo(13);
	}

	@ParameterizedTest
	@EnumSource
	void lastAttemptThatIsGivenBackReturnsTheEstimate(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(settling(algorithm));
		Decision first = join(limiter.check(ANN_A.withCost(4)));
		Decision second = join(limiter.check(ANN_A.withCost(4)));
		join(first.giveBack());
		join(second.giveBack());
		assertThat(remaining(limiter)).isEqualTo(20);
		assertThat(join(limiter.check(ANN_A.withCost(4))).replay()).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void partThatIsGivenBackWhileAReplayHoldsIsNotCharged(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(settling(algorithm));
		Decision first = join(limiter.check(ANN_A.withCost(10)));
		Decision second = join(limiter.check(ANN_A.withCost(10)));
		join(first.receipt().giveBack(4));
		assertThat(remaining(limiter)).isEqualTo(14);
		assertThat(join(second.settle(6))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(limiter)).isEqualTo(14);
	}

	@Test
	void attemptThatIsGivenBackAfterTheSettleOfAnotherReturnsNothing() {
		PolicyRateLimiter limiter = limiter(settling(Algorithm.GCRA));
		Decision first = join(limiter.check(ANN_A.withCost(4)));
		Decision second = join(limiter.check(ANN_A.withCost(4)));
		join(first.settle(7));
		join(second.giveBack());
		assertThat(remaining(limiter)).isEqualTo(13);
	}

	@Test
	void partOfAnAttemptReturnsOnlyIfNoOtherAttemptHoldsIt() {
		PolicyRateLimiter limiter = limiter(payments("20/30d"));
		Decision first = join(limiter.check(ANN_A.withCost(5)));
		join(first.receipt().giveBack(1));
		assertThat(remaining(limiter)).isEqualTo(16);
		Decision second = join(limiter.check(ANN_A.withCost(4)));
		assertThat(second.replay()).isTrue();
		join(first.receipt().giveBack(2));
		join(first.receipt().giveBack(2));
		assertThat(remaining(limiter)).isEqualTo(16);
		join(second.giveBack());
		assertThat(remaining(limiter)).isEqualTo(20);
	}

	@Test
	void receiptsOfTwoAttemptsSettleOnceElsewhere() {
		PolicyRateLimiter one = limiter(settling(Algorithm.GCRA));
		PolicyRateLimiter other = limiter(settling(Algorithm.GCRA));
		byte[] first = join(one.check(ANN_A.withCost(4))).receipt().encode(Duration.ofMinutes(10));
		byte[] second = join(one.check(ANN_A.withCost(4))).receipt().encode(Duration.ofMinutes(10));
		if (this.counters.source() == Decision.Source.MEMORY) {
			assertThat(first).isNull();
			return;
		}
		assertThat(join(other.settle(first, 1))).isEqualTo(Settlement.REFUNDED);
		assertThat(join(one.settle(second, 6))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(one)).isEqualTo(19);
	}

	@Test
	void retryOfARequestThatWasCancelledElsewhereIsCounted() {
		PolicyRateLimiter limiter = limiter(settling(Algorithm.GCRA));
		byte[] receipt = join(limiter.check(ANN_A.withCost(4))).receipt().encode(Duration.ofMinutes(10));
		if (receipt != null) {
			assertThat(join(limiter.settle(receipt, 0))).isEqualTo(Settlement.REFUNDED);
			assertThat(join(limiter.check(ANN_A.withCost(4))).replay()).isFalse();
		}
	}

	private static PolicyBuilder settling(Algorithm algorithm) {
		return payments("20/30d").algorithm(algorithm).settling(Settling.byCode(4));
	}

	private static PolicyBuilder payments(String quota) {
		return Policy.builder("payments").limit("per-user", List.of(Dimension.USER), quota).idempotency(idempotency());
	}

	private static Idempotency idempotency() {
		return new Idempotency("X-Request-Id", Duration.ofMinutes(10), 3);
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy) {
		return limiter(PolicySet.of(policy.build()));
	}

	private PolicyRateLimiter limiter(PolicySet policies) {
		return RateLimiterBuilder.on(this.counters)
			.policies(() -> policies)
			.fallback(Fallback.to(new MemoryCounters(100, MemoryCounters::systemMicros)))
			.options(new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64))
			.listeners(List.of(this.listener))
			.build();
	}

	private static long remaining(PolicyRateLimiter limiter) {
		return join(limiter.check(ANN.withCost(0))).remaining();
	}

	private static long remainingOfUser(PolicyRateLimiter limiter) {
		return join(limiter.check(ANN.withCost(0))).limits()
			.stream()
			.filter((status) -> status.limit().name().equals("per-user"))
			.mapToLong(LimitStatus::remaining)
			.findFirst()
			.orElseThrow();
	}

}
