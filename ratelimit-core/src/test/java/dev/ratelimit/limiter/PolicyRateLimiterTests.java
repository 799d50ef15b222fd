package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.Reservation;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class PolicyRateLimiterTests {

	private static final Policy ORDERS = Policy.of("orders", Algorithm.GCRA,
			Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "3/m"),
			Limit.of("per-tenant", List.of(Dimension.TENANT), "5/m", "100/h"), Limit.of("all", List.of(), "1000/s"));

	private static final Request ANN = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.USER, "ann");

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final MemoryCounters counters = new MemoryCounters(1_000, this.now::get);

	private final PolicyRateLimiter limiter = limiter(PolicySet.of(ORDERS), this.counters);

	@Test
	void decisionTellsPolicySourceAndTheMostConstrainedQuota() {
		Decision decision = check(ANN);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.policy()).isEqualTo("orders");
		assertThat(decision.version()).isZero();
		assertThat(decision.source()).isEqualTo(Decision.Source.MEMORY);
		assertThat(decision.degraded()).isFalse();
		assertThat(decision.limits()).hasSize(4);
		LimitStatus decisive = decision.decisive();
		assertThat(decisive).isNotNull();
		assertThat(decisive.limit().name()).isEqualTo("per-user");
		assertThat(decision.remaining()).isEqualTo(2);
	}

	@Test
	void requestForSomeLimitsTakesNothingFromTheOthers() {
		Decision decision = check(ANN.withCost(3).only(Set.of("per-tenant")));
		assertThat(decision.limits()).extracting((status) -> status.limit().name()).containsOnly("per-tenant");
		assertThat(check(ANN.withCost(0).only(Set.of("per-user"))).remaining()).isEqualTo(3);
		assertThat(check(ANN.withCost(3)).refusedBy()).isNotNull()
			.satisfies((status) -> assertThat(status.limit().name()).isEqualTo("per-tenant"));
	}

	@Test
	void requestForNoLimitIsBypassed() {
		assertThat(check(ANN.only(Set.of())).outcome()).isEqualTo(Decision.Outcome.BYPASSED);
	}

	@Test
	void userIsCappedWithinItsTenant() {
		check(ANN.withCost(3));
		Decision refused = check(ANN);
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.refusedBy()).isNotNull();
		assertThat(refused.refusedBy().limit().scope()).isEqualTo("user");
		assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(20));
	}

	@Test
	void tenantIsCappedOverAllItsUsers() {
		check(ANN.withCost(3));
		check(ANN.with(Dimension.USER, "bob").withCost(2));
		Decision refused = check(ANN.with(Dimension.USER, "cid"));
		assertThat(refused.refusedBy()).isNotNull();
		assertThat(refused.refusedBy().limit().scope()).isEqualTo("tenant");
		assertThat(check(ANN.with(Dimension.TENANT, "other")).allowed()).isTrue();
	}

	@Test
	void refusedRequestTakesNothingAnywhere() {
		check(ANN.withCost(3));
		check(ANN);
		assertThat(peek(ANN)).extracting(LimitStatus::remaining).containsExactly(0L, 2L, 97L, 997L);
	}

	@Test
	void costThatCanNeverFitIsRefusedWithoutARetry() {
		Decision refused = check(ANN.withCost(4));
		assertThat(refused.allowed()).isFalse();
		assertThat(refused.neverFits()).isTrue();
		assertThat(refused.retryAfter()).isZero();
	}

	@Test
	void decisionCanBeGivenBack() {
		Decision decision = check(ANN.withCost(3));
		decision.giveBack().toCompletableFuture().join();
		assertThat(peek(ANN)).extracting(LimitStatus::remaining).containsExactly(3L, 5L, 100L, 1000L);
	}

	@Test
	void permitIsGivenBackOnceAndNoneThatWasNotTaken() {
		check(ANN.withCost(1));
		Decision decision = check(ANN.withCost(2));
		join(decision.receipt().giveBack(-5));
		join(decision.receipt().giveBack(1));
		join(decision.receipt().giveBack(Long.MAX_VALUE));
		join(decision.receipt().giveBack(100));
		join(decision.giveBack());
		assertThat(peek(ANN)).extracting(LimitStatus::remaining).containsExactly(2L, 4L, 99L, 999L);
	}

	@Test
	void resetForgetsEveryLimitOfTheCaller() {
		check(ANN.withCost(3));
		CallerState.reset(this.limiter, ANN).toCompletableFuture().join();
		assertThat(peek(ANN)).extracting(LimitStatus::remaining).containsExactly(3L, 5L, 100L, 1000L);
	}

	@Test
	void reservationIsGrantedInPartAndGivesBackWhatIsNotSpent() {
		Reservation reservation = join(this.limiter.reserve(ANN.withCost(10).atLeast(2), Duration.ofMinutes(1)));
		assertThat(reservation.decision().granted()).isEqualTo(3);
		assertThat(reservation.spend(1)).isTrue();
		join(reservation.release());
		assertThat(reservation.spend(1)).isFalse();
		assertThat(peek(ANN).get(0).remaining()).isEqualTo(2);
	}

	@Test
	void callerThatCancelsItsCheckChangesNothing() {
		CompletableFuture<Grant> answer = new CompletableFuture<>();
		List<Decision> decisions = new ArrayList<>();
		AtomicInteger givenBack = new AtomicInteger();
		PolicyRateLimiter limiter = limiter(PolicySet.of(ORDERS), slow(answer, givenBack),
				(request, decision, nanos) -> decisions.add(decision));
		CompletableFuture<Decision> check = limiter.check(ANN).toCompletableFuture();
		assertThat(check.cancel(true)).isTrue();
		assertThat(answer).isNotDone();
		answer.complete(join(this.counters.acquire(limiter.usage().counters(ANN, "all"), Permits.exactly(1))));
		assertThat(decisions).singleElement().satisfies((decision) -> assertThat(decision.allowed()).isTrue());
		assertThat(givenBack).hasValue(0);
	}

	@Test
	void callerThatWaitsForLessThanTheDeadlineChangesNothing() {
		CompletableFuture<Grant> answer = new CompletableFuture<>();
		List<Decision> decisions = new ArrayList<>();
		AtomicInteger givenBack = new AtomicInteger();
		PolicyRateLimiter limiter = limiter(PolicySet.of(ORDERS), slow(answer, givenBack),
				(request, decision, nanos) -> decisions.add(decision));
		CompletableFuture<Decision> check = limiter.check(ANN)
			.toCompletableFuture()
			.orTimeout(1, TimeUnit.MILLISECONDS);
		assertThatThrownBy(check::join).hasCauseInstanceOf(TimeoutException.class);
		answer.complete(join(this.counters.acquire(limiter.usage().counters(ANN, "all"), Permits.exactly(1))));
		assertThat(decisions).singleElement().satisfies((decision) -> assertThat(decision.allowed()).isTrue());
		assertThat(givenBack).hasValue(0);
	}

	@Test
	void unknownPolicyIsAnErrorThatLetsPass() {
		Decision decision = check(Request.of("ordres"));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.ERROR);
		assertThat(decision.reason()).isEqualTo(Decision.Reason.UNKNOWN_POLICY);
	}

	@Test
	void unknownPolicyHasNoUsage() {
		assertThat(this.limiter.usage().find(Request.of("ordres"), (limit) -> true)).isNull();
	}

	@Test
	void negativeCostIsAnArgumentError() {
		assertThatIllegalArgumentException().isThrownBy(() -> ANN.withCost(-1)).withMessageContaining("cost must be 0");
	}

	/** Counters whose answer the test gives. */
	private Counters slow(CompletableFuture<Grant> answer, AtomicInteger givenBack) {
		return new FakeCounters(this.counters, (counters, permits, timeout) -> answer) {

			@Override
			public CompletionStage<Void> giveBack(Grant grant, long permits) {
				givenBack.incrementAndGet();
				return super.giveBack(grant, permits);
			}

		};
	}

	private Decision check(Request request) {
		return join(this.limiter.check(request));
	}

	private PolicyRateLimiter limiter(PolicySet policies, Counters counters, DecisionListener... listeners) {
		return RateLimiterBuilder.on(counters)
			.policies(() -> policies)
			.fallback(Fallback.to(new MemoryCounters(1_000, this.now::get)))
			.listeners(List.of(listeners))
			.build();
	}

	private List<LimitStatus> peek(Request request) {
		return join(CallerState.peek(this.limiter, request));
	}

}
