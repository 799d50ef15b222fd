package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.testing.Stages;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks for threads that cannot wait, on counters that may answer later.
 */
class CheckNowTests {

	private static final Request ORDERS = Request.of("orders");

	private final Later counters = new Later();

	private final List<Decision> observed = new ArrayList<>();

	@Test
	void answerThatIsThereAtOnceIsObeyed() {
		this.counters.later = false;
		PolicyRateLimiter limiter = limiter(FailureMode.ALLOW);
		for (int i = 0; i < 3; i++) {
			assertThat(limiter.checkNow(ORDERS).outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		}
		assertThat(limiter.checkNow(ORDERS).outcome()).isEqualTo(Decision.Outcome.REFUSED);
		assertThat(this.observed).hasSize(4);
	}

	@ParameterizedTest
	@EnumSource
	void failureModeAnswersBeforeAnAnswerThatComesLater(FailureMode mode) {
		Decision decision = limiter(mode).checkNow(ORDERS);
		assertThat(decision.allowed()).isEqualTo(mode != FailureMode.DENY);
		assertThat(decision.degraded()).isTrue();
		assertThat(decision.reason()).isEqualTo(Decision.Reason.NOT_AWAITED);
		this.counters.answer();
		assertThat(this.observed).containsExactly(decision);
	}

	@ParameterizedTest
	@EnumSource
	void lateSuccessCountsIfTheRequestWasLetPassAndIsGivenBackOtherwise(FailureMode mode) {
		Decision decision = limiter(mode).checkNow(ORDERS);
		this.counters.answer();
		assertThat(this.counters.remaining()).isEqualTo(decision.allowed() ? 2 : 3);
	}

	@Test
	void lateSuccessIsGivenBackIfLocalRefused() {
		PolicyRateLimiter limiter = limiter(FailureMode.LOCAL);
		limiter.checkNow(ORDERS.withCost(3));
		Decision refused = limiter.checkNow(ORDERS.withCost(3));
		assertThat(refused.allowed()).isFalse();
		this.counters.pending.remove(0);
		this.counters.answer();
		assertThat(this.counters.remaining()).isEqualTo(3);
	}

	@Test
	void answerThatIsLaterThanItsDeadlineIsGivenBackToo() {
		limiter(FailureMode.DENY).checkNow(ORDERS);
		CompletableFuture<Grant> muchLater = new CompletableFuture<>();
		Runnable answer = this.counters.pending.remove(0);
		this.counters.answers.get(0)
			.complete(Grant.unanswered(Permits.exactly(1), new Grant.Gap(this.counters.asked,
					new UnansweredException(Decision.Reason.TIMEOUT, "late"), muchLater)));
		this.counters.answers.set(0, muchLater);
		answer.run();
		assertThat(this.counters.remaining()).isEqualTo(3);
	}

	@Test
	void countersAreNotBlamed() {
		PolicyRateLimiter limiter = limiter(FailureMode.ALLOW);
		limiter.checkNow(ORDERS);
		assertThat(limiter.degraded()).isNull();
	}

	@Test
	void callerThatWaitsGetsTheAnswerOfTheCounters() {
		CompletableFuture<Void> end = new CompletableFuture<>();
		CompletableFuture<Decision> decision = limiter(FailureMode.DENY).checkUntil(ORDERS, end).toCompletableFuture();
		assertThat(decision).isNotDone();
		this.counters.answer();
		end.complete(null);
		assertThat(decision.join().outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		assertThat(this.counters.remaining()).isEqualTo(2);
		assertThat(this.observed).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void failureModeAnswersACallerThatWaitsNoLonger(FailureMode mode) {
		CompletableFuture<Void> end = new CompletableFuture<>();
		CompletableFuture<Decision> decision = limiter(mode).checkUntil(ORDERS, end).toCompletableFuture();
		end.complete(null);
		assertThat(decision.join().allowed()).isEqualTo(mode != FailureMode.DENY);
		assertThat(decision.join().reason()).isEqualTo(Decision.Reason.NOT_AWAITED);
		this.counters.answer();
		assertThat(this.counters.remaining()).isEqualTo(decision.join().allowed() ? 2 : 3);
		assertThat(this.observed).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void failureModeAnswersACallerWithoutTimeAndNoCounterIsAsked(FailureMode mode) {
		Decision decision = limiter(mode).checkUnasked(ORDERS).toCompletableFuture().join();
		assertThat(decision.allowed()).isEqualTo(mode != FailureMode.DENY);
		assertThat(decision.reason()).isEqualTo(Decision.Reason.NOT_AWAITED);
		assertThat(this.counters.pending).isEmpty();
		assertThat(this.observed).containsExactly(decision);
	}

	@Test
	void allowListAndSwitchHoldForACallerWithoutTime() {
		Policy orders = Policy.builder("orders").limit("all", List.of(), "3/m").onFailure(FailureMode.DENY).build();
		PolicySet policies = new PolicySet(List.of(orders), new AccessList(List.of(Map.of(Dimension.TENANT, "friend"))),
				AccessList.EMPTY);
		RateLimiter limiter = limiter(policies, Fallback.to(memory()));
		assertThat(limiter.checkUnasked(ORDERS.with(Dimension.TENANT, "friend")).toCompletableFuture().join().reason())
			.isEqualTo(Decision.Reason.LIST);
		RateLimiter switched = limiter(policies, new Fallback(memory(), () -> 1, () -> FailureMode.ALLOW));
		assertThat(switched.checkUnasked(ORDERS).toCompletableFuture().join().reason())
			.isEqualTo(Decision.Reason.SWITCH);
	}

	private PolicyRateLimiter limiter(FailureMode mode) {
		PolicySet policies = PolicySet
			.of(Policy.builder("orders").limit("all", List.of(), "3/m").onFailure(mode).build());
		return limiter(policies, Fallback.to(memory()));
	}

	private PolicyRateLimiter limiter(PolicySet policies, Fallback fallback) {
		return RateLimiterBuilder.on(new FakeCounters(this.counters.counters, this.counters))
			.policies(() -> policies)
			.fallback(fallback)
			.listeners(List.of((request, decision, nanos) -> this.observed.add(decision)))
			.build();
	}

	private static MemoryCounters memory() {
		return new MemoryCounters(1_000, () -> 1_700_000_000_000_000L);
	}

	/** Takes permits when it is told to. */
	private static final class Later implements FakeCounters.Answer {

		private final MemoryCounters counters = memory();

		private final List<CompletableFuture<Grant>> answers = new ArrayList<>();

		private final List<Runnable> pending = new ArrayList<>();

		private boolean later = true;

		private List<Counter> asked = List.of();

		@Override
		public CompletionStage<Grant> to(List<Counter> counters, Permits permits, Duration timeout) {
			this.asked = counters;
			if (!this.later) {
				return this.counters.acquire(counters, permits);
			}
			int index = this.answers.size();
			this.answers.add(new CompletableFuture<>());
			this.pending.add(() -> this.answers.get(index)
				.complete(this.counters.acquire(counters, permits).toCompletableFuture().join()));
			return this.answers.get(index);
		}

		void answer() {
			this.pending.remove(0).run();
		}

		long remaining() {
			return Stages.join(this.counters.acquire(this.asked, Permits.NONE)).statuses().get(0).remaining();
		}

	}

}
