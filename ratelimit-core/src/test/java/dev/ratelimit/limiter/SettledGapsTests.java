package dev.ratelimit.limiter;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.Settling;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Settles of requests whose counters answered late or not at all.
 */
class SettledGapsTests {

	private static final long NOW = 1_700_000_000_000_000L;

	private static final Request ANN = Request.of("llm").with(Dimension.USER, "ann").withCost(400);

	private final MemoryCounters store = new MemoryCounters(100, () -> NOW);

	private final MemoryCounters local = new MemoryCounters(100, () -> NOW);

	/** Takes the late answer. */
	private final CompletableFuture<Grant> late = new CompletableFuture<>();

	private final Counters counters = new FakeCounters(this.store,
			(counters, permits, timeout) -> CompletableFuture.completedStage(Grant.unanswered(permits,
					new Grant.Gap(counters, new UnansweredException(Decision.Reason.TIMEOUT, "slow"), this.late))));

	@Test
	void grantThatCameLateIsSettled() {
		Decision decision = check(FailureMode.ALLOW);
		assertThat(decision.degraded()).isTrue();
		this.late.complete(take());
		assertThat(remaining(this.store)).isEqualTo(600);
		assertThat(join(decision.settle(100))).isEqualTo(Settlement.REFUNDED);
		assertThat(remaining(this.store)).isEqualTo(900);
	}

	@Test
	void grantThatComesAfterTheSettleIsSettledThen() {
		Decision decision = check(FailureMode.ALLOW);
		assertThat(join(decision.settle(100))).isEqualTo(Settlement.NOTHING);
		this.late.complete(take());
		assertThat(remaining(this.store)).isEqualTo(900);
	}

	@Test
	void shareOfThisInstanceIsSettled() {
		Decision decision = check(FailureMode.LOCAL);
		assertThat(decision.source()).isEqualTo(Decision.Source.LOCAL);
		// The instance counts by 1,500/h: two thirds of each permit.
		assertThat(remaining(this.local)).isEqualTo(733);
		assertThat(join(decision.settle(100))).isEqualTo(Settlement.REFUNDED);
		assertThat(remaining(this.local)).isEqualTo(933);
	}

	@Test
	void requestThatTheFailureModeRefusesHasNothingToSettle() {
		Decision decision = check(FailureMode.DENY);
		assertThat(decision.allowed()).isFalse();
		this.late.complete(take());
		assertThat(join(decision.settle(100))).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(this.store)).isEqualTo(1_000);
	}

	private Decision check(FailureMode mode) {
		PolicySet policies = PolicySet.of(Policy.builder("llm")
			.limit("per-user", List.of(Dimension.USER), "1000/h")
			.settling(Settling.byCode(400))
			.onFailure(mode)
			.build());
		PolicyRateLimiter limiter = RateLimiterBuilder.on(this.counters)
			.policies(() -> policies)
			.fallback(new Fallback(this.local, () -> 1, () -> null))
			.build();
		return join(limiter.check(ANN));
	}

	private Grant take() {
		return join(this.store.acquire(counter(), Permits.exactly(400)));
	}

	/** Of 1,000 an hour. */
	private static long remaining(Counters counters) {
		return join(counters.acquire(counter(), Permits.NONE)).statuses().get(0).remaining();
	}

	private static List<Counter> counter() {
		Policy policy = Policy.builder("llm")
			.limit("per-user", List.of(Dimension.USER), "1000/h")
			.settling(Settling.byCode(400))
			.build();
		return new CounterResolver(new CounterKeys("rl"), 64).resolve(PolicySet.of(policy).match(ANN), ANN);
	}

}
