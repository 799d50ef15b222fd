package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.Reservation;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PolicyRateLimiterTests {

	private static final Policy ORDERS = Policy.of("orders", Algorithm.GCRA,
			Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "3/m"),
			Limit.of("per-tenant", List.of(Dimension.TENANT), "5/m", "100/h"), Limit.of("all", List.of(), "1000/s"));

	private static final Request ANN = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.USER, "ann");

	private final AtomicLong now = new AtomicLong(1_700_000_000_000_000L);

	private final PolicyRateLimiter limiter = new PolicyRateLimiter(() -> PolicySet.of(ORDERS), new CounterKeys("rl"),
			new MemoryCounters(1_000, this.now::get));

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
	void refusedRequestTakesNothingAnywhere() {
		check(ANN.withCost(3));
		check(ANN);
		assertThat(peek(ANN).limits()).extracting(LimitStatus::remaining).containsExactly(0L, 2L, 97L, 997L);
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
		assertThat(peek(ANN).limits()).extracting(LimitStatus::remaining).containsExactly(3L, 5L, 100L, 1000L);
	}

	@Test
	void resetForgetsEveryLimitOfTheCaller() {
		check(ANN.withCost(3));
		this.limiter.reset(ANN).toCompletableFuture().join();
		assertThat(peek(ANN).limits()).extracting(LimitStatus::remaining).containsExactly(3L, 5L, 100L, 1000L);
	}

	@Test
	void reservationIsGrantedInPartAndGivesBackWhatIsNotSpent() {
		Reservation reservation = join(this.limiter.reserve(ANN.withCost(10).atLeast(2), Duration.ofMinutes(1)));
		assertThat(reservation.decision().granted()).isEqualTo(3);
		assertThat(reservation.spend(1)).isTrue();
		join(reservation.release());
		assertThat(reservation.spend(1)).isFalse();
		assertThat(peek(ANN).remaining()).isEqualTo(2);
	}

	@Test
	void unknownPolicyFailsTheStage() {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> check(Request.of("ordres")))
			.withMessageContaining("no policy 'ordres'");
	}

	@Test
	void missingDimensionIsNamedWithoutAnyValue() {
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> check(Request.of("orders").with(Dimension.TENANT, "secret-tenant")))
			.withMessageContaining("counts by 'user'")
			.withMessageNotContaining("secret-tenant");
	}

	@Test
	void negativeCostIsAnArgumentError() {
		assertThatIllegalArgumentException().isThrownBy(() -> ANN.withCost(-1)).withMessageContaining("cost must be 0");
	}

	private Decision check(Request request) {
		return join(this.limiter.check(request));
	}

	private Decision peek(Request request) {
		return join(this.limiter.peek(request));
	}

	private static <T> T join(CompletionStage<T> stage) {
		return stage.toCompletableFuture().join();
	}

}
