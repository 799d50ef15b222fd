package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
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
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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
	void counterThatRefusedIsTold() {
		List<Counter> refusals = new ArrayList<>();
		PolicySet policies = PolicySet.of(ORDERS,
				Policy.builder("shadow").shadow(true).limit("all", List.of(), "1/m").build());
		PolicyRateLimiter limiter = new PolicyRateLimiter(() -> policies, new CounterKeys("rl"), this.counters,
				Fallback.to(this.counters), LimiterOptions.DEFAULTS, List.of(), Splitting.NONE, refusals::add);
		join(limiter.check(ANN.withCost(3)));
		join(limiter.check(ANN));
		join(limiter.check(ANN.with(Dimension.USER, "bob").withCost(2)));
		join(limiter.check(ANN.with(Dimension.USER, "cid")));
		join(limiter.check(Request.of("shadow").withCost(2)));
		assertThat(refusals).containsExactly(limiter.usage().counters(ANN, "per-user").get(0),
				limiter.usage().counters(ANN, "per-tenant").get(0));
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
		join(decision.receipt().giveBack(100));
		join(decision.giveBack());
		assertThat(peek(ANN)).extracting(LimitStatus::remaining).containsExactly(2L, 4L, 99L, 999L);
	}

	@Test
	void resetForgetsEveryLimitOfTheCaller() {
		check(ANN.withCost(3));
		this.limiter.reset(ANN).toCompletableFuture().join();
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
	void unknownPolicyIsAnErrorThatLetsPass() {
		Decision decision = check(Request.of("ordres"));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.outcome()).isEqualTo(Decision.Outcome.ERROR);
		assertThat(decision.reason()).isEqualTo(Decision.Reason.UNKNOWN_POLICY);
	}

	@Test
	void usageOfAnUnknownPolicyIsAnArgumentError() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.limiter.peek(Request.of("ordres")))
			.withMessageContaining("no policy 'ordres'");
	}

	@Test
	void negativeCostIsAnArgumentError() {
		assertThatIllegalArgumentException().isThrownBy(() -> ANN.withCost(-1)).withMessageContaining("cost must be 0");
	}

	private Decision check(Request request) {
		return join(this.limiter.check(request));
	}

	private PolicyRateLimiter limiter(PolicySet policies, Counters counters, DecisionListener... listeners) {
		return new PolicyRateLimiter(() -> policies, new CounterKeys("rl"), counters,
				Fallback.to(new MemoryCounters(1_000, this.now::get)), LimiterOptions.DEFAULTS, List.of(listeners));
	}

	private List<LimitStatus> peek(Request request) {
		return join(this.limiter.peek(request));
	}

	private static <T> T join(CompletionStage<T> stage) {
		return stage.toCompletableFuture().join();
	}

}
