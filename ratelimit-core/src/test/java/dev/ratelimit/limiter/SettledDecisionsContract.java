package dev.ratelimit.limiter;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

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
import dev.ratelimit.Rollout;
import dev.ratelimit.Settlement;
import dev.ratelimit.Settling;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.policy.VersionPair;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Decisions that take an estimate and are settled afterwards, on counters of any kind.
 */
public abstract class SettledDecisionsContract {

	private static final Request ANN = Request.of("llm")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.USER, "ann")
		.with(Dimension.IP, "192.0.2.1")
		.withCost(400);

	private final Counters counters = counters();

	private final Queue<String> settled = new ConcurrentLinkedQueue<>();

	private final DecisionListener listener = new DecisionListener() {

		@Override
		public void decided(Request request, Decision decision, long nanos) {
		}

		@Override
		public void settled(String policy, Settlement settlement) {
			SettledDecisionsContract.this.settled.add(policy + " " + settlement.text());
		}

	};

	/** Empty counters. */
	protected abstract Counters counters();

	@ParameterizedTest
	@EnumSource
	void fiveConcurrentCallsOf400OnALimitOf1000AreTwo(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(llm("1000/30d").algorithm(algorithm));
		List<CompletableFuture<Decision>> calls = IntStream.range(0, 5)
			.mapToObj((i) -> limiter.check(ANN).toCompletableFuture())
			.toList();
		List<Decision> admitted = calls.stream().map(CompletableFuture::join).filter(Decision::allowed).toList();
		assertThat(admitted).hasSize(2);
		admitted.forEach((decision) -> assertThat(join(decision.settle(100))).isEqualTo(Settlement.REFUNDED));
		assertThat(remaining(limiter)).isEqualTo(800);
		assertThat(this.settled).containsExactly("llm refunded", "llm refunded");
	}

	@ParameterizedTest
	@EnumSource
	void everyLimitIsSettled(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(
				llm("1000/30d").algorithm(algorithm).limit("per-ip", List.of(Dimension.IP), "5000/30d"));
		Decision decision = join(limiter.check(ANN));
		assertThat(join(decision.settle(1_000))).isEqualTo(Settlement.SETTLED);
		assertThat(join(limiter.check(ANN.withCost(0))).limits()).extracting((status) -> status.remaining())
			.containsExactly(0L, 4_000L);
	}

	@Test
	void onlyTheFirstSettleCounts() {
		PolicyRateLimiter limiter = limiter(llm("1000/30d"));
		Decision decision = join(limiter.check(ANN));
		assertThat(join(decision.settle(300))).isEqualTo(Settlement.REFUNDED);
		assertThat(join(decision.settle(100))).isEqualTo(Settlement.NOTHING);
		assertThat(join(decision.cancel())).isEqualTo(Settlement.NOTHING);
		join(decision.giveBack());
		assertThat(remaining(limiter)).isEqualTo(700);
		assertThat(this.settled).containsExactly("llm refunded");
	}

	@Test
	void cancelledRequestCostsNothing() {
		PolicyRateLimiter limiter = limiter(llm("1000/30d"));
		assertThat(join(join(limiter.check(ANN)).cancel())).isEqualTo(Settlement.REFUNDED);
		assertThat(remaining(limiter)).isEqualTo(1_000);
	}

	@Test
	void rightEstimateIsSettledWithoutACorrection() {
		PolicyRateLimiter limiter = limiter(llm("1000/30d"));
		assertThat(join(join(limiter.check(ANN)).settle(400))).isEqualTo(Settlement.SETTLED);
		assertThat(remaining(limiter)).isEqualTo(600);
	}

	@Test
	void requestThatWasGivenBackIsNotSettled() {
		PolicyRateLimiter limiter = limiter(llm("1000/30d"));
		Decision decision = join(limiter.check(ANN));
		join(decision.giveBack());
		assertThat(join(decision.settle(700))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(limiter)).isEqualTo(1_000);
	}

	@Test
	void refusedAndBypassedRequestsAreNotSettled() {
		PolicyRateLimiter limiter = limiter(llm("500/30d"));
		join(limiter.check(ANN));
		Decision refused = join(limiter.check(ANN));
		assertThat(refused.allowed()).isFalse();
		assertThat(join(refused.settle(100))).isEqualTo(Settlement.NOTHING);
		Decision unknown = join(limiter.check(Request.of("other")));
		assertThat(join(unknown.settle(100))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(limiter)).isEqualTo(100);
	}

	@Test
	void policyWithoutCostIsNotSettled() {
		PolicyRateLimiter limiter = limiter(llm("1000/30d").settling(null));
		assertThat(join(join(limiter.check(ANN)).settle(100))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(limiter)).isEqualTo(600);
	}

	@Test
	void trueCostOutOfRangeIsAnError() {
		Decision decision = join(limiter(llm("1000/30d")).check(ANN));
		assertThatIllegalArgumentException().isThrownBy(() -> decision.settle(-1));
	}

	@Test
	void countersOfATrialAreSettledToo() {
		PolicySet policies = PolicySet.of()
			.mutate()
			.put(llm("2000/30d").version(2).shadow(true).build(), llm("1000/30d").version(1).build())
			.build();
		PolicyRateLimiter limiter = limiter(policies);
		Decision decision = join(limiter.check(ANN));
		await().atMost(Duration.ofSeconds(60)).until(() -> trialRemaining(policies) == 1_600);
		join(decision.settle(100));
		await().atMost(Duration.ofSeconds(60)).until(() -> trialRemaining(policies) == 1_900);
		assertThat(this.settled).containsExactly("llm refunded");
	}

	@Test
	void bothCountersOfAComparedCallerAreSettled() {
		PolicySet policies = PolicySet.of()
			.mutate()
			.put(llm("2000/30d").version(2)
				.rollout(new Rollout(50, null, List.of(1, 50, 100), Duration.ofDays(30)))
				.build(), llm("1000/30d").version(1).build())
			.build();
		PolicyRateLimiter limiter = limiter(policies);
		Request compared = IntStream.range(0, 10_000)
			.mapToObj((i) -> ANN.with(Dimension.TENANT, "t" + i))
			.filter((request) -> policies.pair(request) != null)
			.findFirst()
			.orElseThrow();
		VersionPair pair = policies.pair(compared);
		Decision decision = join(limiter.check(compared));
		await().atMost(Duration.ofSeconds(60))
			.until(() -> left(pair.previous(), compared) == 600 && left(pair.next(), compared) == 1_600);
		join(decision.settle(100));
		await().atMost(Duration.ofSeconds(60))
			.until(() -> left(pair.previous(), compared) == 900 && left(pair.next(), compared) == 1_900);
		assertThat(this.settled).containsExactly("llm refunded");
	}

	@Test
	void callerOfTheAllowListSettlesNothing() {
		AccessList acme = new AccessList(List.of(Map.of(Dimension.TENANT, "acme")));
		Policy policy = llm("1000/30d").build();
		Decision decision = join(limiter(new PolicySet(List.of(policy), acme, AccessList.EMPTY)).check(ANN));
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.BYPASSED);
		settlesNothing(decision, PolicySet.of(policy));
	}

	@Test
	void requestUnderTheSwitchSettlesNothing() {
		PolicySet policies = PolicySet.of(llm("1000/30d").build());
		Fallback switched = new Fallback(new MemoryCounters(100, MemoryCounters::systemMicros), () -> 1,
				() -> FailureMode.ALLOW);
		Decision decision = join(limiter(policies, switched).check(ANN));
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.BYPASSED);
		settlesNothing(decision, policies);
	}

	private void settlesNothing(Decision decision, PolicySet policies) {
		assertThat(decision.receipt().settling()).isNull();
		assertThat(join(decision.settle(100))).isEqualTo(Settlement.NOTHING);
		assertThat(join(decision.settle(700))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(limiter(policies))).isEqualTo(1_000);
		assertThat(this.settled).isEmpty();
	}

	/** What the version on trial has left. */
	private long trialRemaining(PolicySet policies) {
		Match match = policies.trial(ANN);
		assertThat(match).isNotNull();
		return left(match, ANN);
	}

	private long left(Match match, Request request) {
		return join(this.counters.read(new CounterResolver(new CounterKeys("rl"), 64).resolve(match, request)))
			.statuses()
			.get(0)
			.remaining();
	}

	@Test
	void receiptSettlesElsewhereAndOnlyOnce() {
		PolicyRateLimiter one = limiter(llm("1000/30d"));
		PolicyRateLimiter other = limiter(llm("1000/30d"));
		Decision decision = join(one.check(ANN));
		byte[] receipt = decision.receipt().encode(Duration.ofMinutes(10));
		if (this.counters.source() == Decision.Source.MEMORY) {
			assertThat(receipt).isNull();
			return;
		}
		assertThat(new String(receipt, StandardCharsets.ISO_8859_1)).doesNotContain("ann", "acme");
		assertThat(join(other.settle(receipt, 100))).isEqualTo(Settlement.REFUNDED);
		assertThat(join(other.settle(receipt, 50))).isEqualTo(Settlement.NOTHING);
		assertThat(join(decision.settle(50))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(one)).isEqualTo(900);
	}

	@Test
	void receiptHasOnlyWhatWasNotGivenBack() {
		PolicyRateLimiter limiter = limiter(llm("1000/30d"));
		Decision decision = join(limiter.check(ANN));
		join(decision.receipt().giveBack(150));
		byte[] receipt = decision.receipt().encode(Duration.ofMinutes(10));
		if (receipt != null) {
			assertThat(join(limiter.settle(receipt, 100))).isEqualTo(Settlement.REFUNDED);
			assertThat(remaining(limiter)).isEqualTo(900);
		}
		Decision nothingLeft = join(limiter.check(ANN));
		join(nothingLeft.giveBack());
		assertThat(nothingLeft.receipt().encode(Duration.ofMinutes(10))).isNull();
	}

	@Test
	void giveBackAndSettleElsewhereDoNotReturnPermitsTwice() {
		PolicyRateLimiter limiter = limiter(llm("1000/30d"));
		join(limiter.check(ANN));
		Decision decision = join(limiter.check(ANN));
		byte[] receipt = decision.receipt().encode(Duration.ofMinutes(10));
		join(decision.receipt().giveBack(150));
		assertThat(remaining(limiter)).isEqualTo(350);
		if (receipt != null) {
			assertThat(join(limiter.settle(receipt, 0))).isEqualTo(Settlement.NOTHING);
			assertThat(remaining(limiter)).isEqualTo(350);
			Decision other = join(limiter.check(ANN.withCost(200)));
			byte[] settled = other.receipt().encode(Duration.ofMinutes(10));
			join(limiter.settle(settled, 100));
			join(other.giveBack());
			assertThat(remaining(limiter)).isEqualTo(250);
		}
	}

	@Test
	void estimateThatWasRightIsFinalElsewhere() {
		PolicyRateLimiter one = limiter(llm("1000/30d"));
		Decision decision = join(one.check(ANN));
		byte[] receipt = decision.receipt().encode(Duration.ofMinutes(10));
		join(decision.settle(400));
		if (receipt != null) {
			assertThat(join(one.settle(receipt, 50))).isEqualTo(Settlement.NOTHING);
		}
		assertThat(remaining(one)).isEqualTo(600);
	}

	@Test
	void decisionOfAPolicyWithoutACostCanBeMadeSettleable() {
		PolicyRateLimiter limiter = limiter(
				Policy.builder("llm").limit("per-user", List.of(Dimension.TENANT, Dimension.USER), "1000/30d"));
		Decision plain = join(limiter.check(ANN));
		assertThat(join(plain.settle(100))).isEqualTo(Settlement.NOTHING);
		Decision decision = limiter.settleable(plain);
		assertThat(decision.limits()).isEqualTo(plain.limits());
		join(plain.giveBack());
		assertThat(remaining(limiter)).isEqualTo(600);
		byte[] receipt = decision.receipt().encode(Duration.ofMinutes(10));
		assertThat(receipt == null).isEqualTo(this.counters.source() == Decision.Source.MEMORY);
		assertThat(join((receipt == null) ? decision.settle(100) : limiter.settle(receipt, 100)))
			.isEqualTo(Settlement.REFUNDED);
		assertThat(join(decision.settle(0))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(limiter)).isEqualTo(900);
		assertThat(limiter.settleable(decision)).isSameAs(decision);
	}

	private static PolicyBuilder llm(String quota) {
		return Policy.builder("llm")
			.limit("per-user", List.of(Dimension.TENANT, Dimension.USER), quota)
			.settling(Settling.byCode(400));
	}

	private PolicyRateLimiter limiter(PolicyBuilder policy) {
		return limiter(PolicySet.of(policy.build()));
	}

	private PolicyRateLimiter limiter(PolicySet policies) {
		return limiter(policies, Fallback.to(new MemoryCounters(100, MemoryCounters::systemMicros)));
	}

	private PolicyRateLimiter limiter(PolicySet policies, Fallback fallback) {
		return RateLimiterBuilder.on(this.counters)
			.policies(() -> policies)
			.fallback(fallback)
			.options(new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64))
			.listeners(List.of(this.listener))
			.build();
	}

	private static long remaining(PolicyRateLimiter limiter) {
		return join(limiter.check(ANN.withCost(0))).remaining();
	}

}
