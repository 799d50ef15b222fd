package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class DecisionTests {

	private static final Limit LIMIT = Limit.of("per-user", List.of(Dimension.USER), "100/s", "3000/m");

	private final LimitStatus plenty = fits(90, 100);

	private final LimitStatus few = fits(2, 100);

	private final LimitStatus fewForLong = fits(2, 5_000_000);

	private final LimitStatus shortWait = refuses(0, 1_000);

	private final LimitStatus longWait = refuses(7, 2_500_000);

	private final LimitStatus never = refuses(100, LimitStatus.NEVER);

	@Test
	void quotaWithTheFewestLeftIsDecisiveWhenAllowed() {
		assertThat(allowed(this.plenty, this.few).decisive()).isSameAs(this.few);
		assertThat(allowed(this.few, this.plenty).decisive()).isSameAs(this.few);
		assertThat(allowed(this.few, this.plenty).remaining()).isEqualTo(2);
	}

	@Test
	void ofEquallyFewTheLongestResetIsDecisive() {
		assertThat(allowed(this.few, this.fewForLong).decisive()).isSameAs(this.fewForLong);
		assertThat(allowed(this.fewForLong, this.few, this.plenty).decisive()).isSameAs(this.fewForLong);
	}

	@Test
	void refusingQuotaIsDecisiveHoweverFewAnotherHasLeft() {
		Decision decision = refused(fits(0, 9_000_000), this.longWait);
		assertThat(decision.decisive()).isSameAs(this.longWait);
		assertThat(decision.remaining()).isEqualTo(7);
	}

	@Test
	void longestWaitOfTheRefusingRefuses() {
		assertThat(refused(this.shortWait, this.longWait, this.few).refusedBy()).isSameAs(this.longWait);
		assertThat(refused(this.longWait, this.shortWait).refusedBy()).isSameAs(this.longWait);
		assertThat(refused(this.longWait, this.shortWait).retryAfter()).isEqualTo(Duration.ofMillis(2_500));
	}

	@Test
	void neverIsTheLongestWait() {
		Decision decision = refused(this.never, this.longWait, this.shortWait);
		assertThat(decision.refusedBy()).isSameAs(this.never);
		assertThat(decision.neverFits()).isTrue();
		assertThat(decision.retryAfter()).isZero();
		assertThat(refused(this.longWait, this.never).refusedBy()).isSameAs(this.never);
	}

	@Test
	void whatWaitsIsNotWhatNeverFits() {
		assertThat(refused(this.longWait, this.plenty).neverFits()).isFalse();
		assertThat(allowed(this.plenty).neverFits()).isFalse();
	}

	@Test
	void nothingRefusesWhatIsAllowed() {
		Decision decision = allowed(this.plenty, this.few);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.refusedBy()).isNull();
		assertThat(decision.retryAfter()).isZero();
		assertThat(refused(this.shortWait).allowed()).isFalse();
	}

	@Test
	void noCounterMeansNoDecisiveQuota() {
		assertThat(allowed().decisive()).isNull();
		assertThat(allowed().remaining()).isEqualTo(-1);
		assertThat(allowed().neverFits()).isFalse();
	}

	@Test
	void shadowAllowsWhatALimitRefusedAndSaysSo() {
		Decision shadow = refused(this.longWait).inShadow();
		assertThat(shadow.allowed()).isTrue();
		assertThat(shadow.shadow()).isTrue();
		assertThat(shadow.outcome()).isEqualTo(Decision.Outcome.SHADOW_REFUSED);
		assertThat(shadow.refusedBy()).isSameAs(this.longWait);
	}

	@Test
	void shadowLeavesWhatWasAllowedAsItIs() {
		Decision shadow = allowed(this.few).inShadow();
		assertThat(shadow.allowed()).isTrue();
		assertThat(shadow.outcome()).isEqualTo(Decision.Outcome.ALLOWED);
		assertThat(shadow.remaining()).isEqualTo(2);
	}

	@Test
	void decisionWithoutCountersIsDegradedOnlyOnError() {
		Request request = Request.of("orders").withCost(5);
		Decision error = Decision.without(request, 3, true, Decision.Outcome.ERROR, Decision.Reason.TIMEOUT);
		assertThat(error.degraded()).isTrue();
		assertThat(error.cost()).isEqualTo(5);
		assertThat(error.granted()).isZero();
		assertThat(error.giveBack()).isCompleted();
		assertThat(Decision.without(request, 3, false, Decision.Outcome.DENIED, Decision.Reason.LIST).degraded())
			.isFalse();
	}

	@Test
	void givesBackWhatWasGranted() {
		List<Long> given = new ArrayList<>();
		Decision decision = new Decision("orders", 1, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS,
				Decision.Source.MEMORY, false, null, 10, 7, List.of(this.plenty), (permits) -> {
					given.add(permits);
					return CompletableFuture.completedStage(null);
				});
		assertThat(decision.giveBack()).isCompleted();
		assertThat(given).containsExactly(7L);
	}

	@Test
	void timesOfAStatusAreExactToTheMicrosecond() {
		LimitStatus status = new LimitStatus(LIMIT, LIMIT.quotas().get(0), 0, 61_000_001, 1, 1);
		assertThat(status.resetAfter()).isEqualTo(Duration.ofSeconds(61, 1_000));
		assertThat(status.retryAfter()).isEqualTo(Duration.ofNanos(1_000));
	}

	@Test
	void statusThatNeverFitsRefusesWithoutAWait() {
		assertThat(this.never.refuses()).isTrue();
		assertThat(this.never.neverFits()).isTrue();
		assertThat(this.never.retryAfter()).isZero();
		assertThat(this.plenty.refuses()).isFalse();
		assertThat(this.longWait.neverFits()).isFalse();
	}

	@Test
	void outcomeReasonAndSourceAreLowerCaseText() {
		assertThat(Decision.Outcome.ALLOWED.text()).isEqualTo("allowed");
		assertThat(Decision.Outcome.SHADOW_REFUSED.text()).isEqualTo("shadow-refused");
		assertThat(Decision.Reason.UNKNOWN_POLICY.text()).isEqualTo("unknown-policy");
		assertThat(Decision.Source.MEMORY.text()).isEqualTo("memory");
	}

	private static Decision allowed(LimitStatus... limits) {
		return new Decision("orders", 1, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS, Decision.Source.MEMORY,
				false, null, 1, 1, List.of(limits), Receipt.NOTHING);
	}

	private static Decision refused(LimitStatus... limits) {
		return new Decision("orders", 1, false, Decision.Outcome.REFUSED, Decision.Reason.LIMITS,
				Decision.Source.MEMORY, false, null, 1, 0, List.of(limits), Receipt.NOTHING);
	}

	private static LimitStatus fits(long remaining, long reset) {
		return new LimitStatus(LIMIT, LIMIT.quotas().get(0), remaining, reset, 0, 1);
	}

	private static LimitStatus refuses(long remaining, long retry) {
		return new LimitStatus(LIMIT, LIMIT.quotas().get(1), remaining, 10_000_000, retry, 1);
	}

}
