package dev.ratelimit.web;

import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.Settling;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.web.CallDecisions.Edge;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What decisions about one call cost together.
 */
class CallDecisionsTests {

	private static final Request ANN = Request.of("llm").with(Dimension.USER, "ann");

	private final RateLimiter limiter = RateLimiterBuilder.inMemory()
		.policies(Policy.builder("llm")
			.limit(Limit.of("per-user", List.of(Dimension.USER), "10000/d"))
			.settling(Settling.byCode(500))
			.build())
		.build();

	private final CallDecisions decisions = new CallDecisions();

	@Test
	void policyThatTwoEdgesNameIsSettledOnce() {
		this.decisions.add(check(500), Edge.REQUEST, true);
		this.decisions.add(check(200), Edge.HANDLER, false);
		this.decisions.settle((settling) -> 300L);
		assertThat(remaining()).isEqualTo(9_700);
	}

	@Test
	void surplusOverAllThatWasTakenIsCharged() {
		this.decisions.add(check(500), Edge.REQUEST, true);
		this.decisions.add(check(200), Edge.REQUEST, true);
		this.decisions.settle((settling) -> 1_000L);
		assertThat(remaining()).isEqualTo(9_000);
	}

	@Test
	void methodsThatAreChargedAtEveryCallAreSettledEach() {
		this.decisions.add(check(500), Edge.ALONE, false);
		this.decisions.add(check(500), Edge.ALONE, false);
		this.decisions.settle((settling) -> 100L);
		assertThat(remaining()).isEqualTo(9_800);
	}

	@Test
	void handlerThatRunsAgainIsSettledByItself() {
		this.decisions.add(check(500), Edge.HANDLER, false);
		this.decisions.add(check(500), Edge.HANDLER, false);
		this.decisions.settle((settling) -> 100L);
		assertThat(remaining()).isEqualTo(9_800);
	}

	@Test
	void estimateIsTheSumOfAllThatWasTaken() {
		Decision first = check(500);
		this.decisions.add(first, Edge.REQUEST, true);
		this.decisions.add(check(200), Edge.REQUEST, true);
		assertThat(this.decisions.settling()).containsExactly(first);
		assertThat(this.decisions.estimate(first)).isEqualTo(700);
	}

	@Test
	void nothingIsSettledAfterARefusal() {
		this.decisions.add(check(500), Edge.REQUEST, true);
		this.decisions.giveBack();
		this.decisions.settle((settling) -> 300L);
		assertThat(remaining()).isEqualTo(10_000);
	}

	@Test
	void decisionForWhichAnEarlierEdgeHasPaidIsNotNew() {
		Decision first = check(500);
		assertThat(this.decisions.add(first, Edge.REQUEST, true)).isTrue();
		assertThat(this.decisions.add(first, Edge.REQUEST, true)).isFalse();
		assertThat(this.decisions.settling()).containsExactly(first);
	}

	private Decision check(long cost) {
		return this.limiter.check(ANN.withCost(cost)).toCompletableFuture().join();
	}

	/** A permit comes back in 8.6 s, so a few may have. */
	private long remaining() {
		long remaining = check(0).limits().get(0).remaining();
		return Math.floorDiv(remaining, 100) * 100;
	}

}
