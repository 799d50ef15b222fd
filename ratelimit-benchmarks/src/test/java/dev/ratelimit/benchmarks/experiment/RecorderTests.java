package dev.ratelimit.benchmarks.experiment;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Request;
import dev.ratelimit.benchmarks.load.Arrival;

import static org.assertj.core.api.Assertions.assertThat;

class RecorderTests {

	private static final Order ORDER = new Order(1, 2, 1, 10, 1, 5, 0, 0, 0);

	private static final Request REQUEST = Request.of("orders");

	// Every check was due before.
	private final long start = System.nanoTime() - 2_000_000_000L;

	private final Recorder recorder = new Recorder(ORDER, this.start);

	@Test
	void degradedDecisionsPassButAreNotAdmitted() {
		add(0, 0, 3, Decision.by(FailureMode.ALLOW, REQUEST, 1, Decision.Reason.TIMEOUT));
		add(1, 1_500_000_000, 1, Decision.by(FailureMode.DENY, REQUEST, 1, Decision.Reason.BREAKER_OPEN));

		Outcomes outcomes = this.recorder.outcomes(2, 0.5);
		assertThat(outcomes.passed(0, 0, 2)).isEqualTo(3);
		assertThat(outcomes.admitted(0, 0, 2)).isZero();
		assertThat(outcomes.bySecond()).extracting(Outcomes.Second::degraded).containsExactly(1L, 1L);
		assertThat(outcomes.bySecond()).extracting(Outcomes.Second::degradedAllowed).containsExactly(1L, 0L);
		assertThat(outcomes.degradedWithin()).isEqualTo(1);
		assertThat(outcomes.refusedWithin()).isZero();
		assertThat(outcomes.checksWithin()).isEqualTo(1);
	}

	@Test
	void firstDegradedDecisionAndFirstOfAnOpenBreakerAreTimed() {
		for (int i = 0; i < 3; i++) {
			add(0, 0, 1, Decision.by(FailureMode.ALLOW, REQUEST, 1, Decision.Reason.TIMEOUT));
			add(0, 0, 1, Decision.by(FailureMode.ALLOW, REQUEST, 1, Decision.Reason.BREAKER_OPEN));
		}

		Outcomes outcomes = this.recorder.outcomes(2, 0.5);
		assertThat(outcomes.degradedAtMillis()).hasSize(1);
		assertThat(outcomes.openedAtMillis()).hasSize(1);
	}

	@Test
	void exceptionIsAnError() {
		this.recorder.add(new Arrival(0, 0, 1), this.start, null);

		assertThat(this.recorder.outcomes(2, 0.5).errors()).isEqualTo(1);
	}

	private void add(int key, long due, int cost, Decision decision) {
		this.recorder.add(new Arrival(due, key, cost), this.start, decision);
	}

}
