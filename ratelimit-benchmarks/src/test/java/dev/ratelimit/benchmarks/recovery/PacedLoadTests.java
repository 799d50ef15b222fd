package dev.ratelimit.benchmarks.recovery;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.benchmarks.load.Contender;

import static org.assertj.core.api.Assertions.assertThat;

class PacedLoadTests {

	private Contender.Outcome outcome;

	private volatile long secondSecond = System.nanoTime() + Long.MAX_VALUE / 2;

	@Test
	void answerOfTheFailureModeIsDegraded() throws Exception {
		this.outcome = Contender.Outcome.FAILED;

		PacedLoad.Second second = run(1).get(0);

		assertThat(second.sent()).isPositive();
		assertThat(second.answered()).isPositive();
		assertThat(second.undegraded()).isZero();
		assertThat(second.processor()).isEqualTo(1);
	}

	@Test
	void refusalByTheLimitsIsNotDegraded() throws Exception {
		this.outcome = Contender.Outcome.REFUSED;

		assertThat(run(1).get(0).undegraded()).isOne();
	}

	@Test
	void answerCountsInTheSecondInWhichItComes() throws Exception {
		List<PacedLoad.Second> seconds = run(3);

		assertThat(seconds.get(0).sent()).isPositive();
		assertThat(seconds.get(0).answered()).isZero();
		assertThat(seconds.get(0).undegraded()).isZero();
		assertThat(seconds.get(1).answered() + seconds.get(2).answered()).isGreaterThan(seconds.get(0).sent());
	}

	private List<PacedLoad.Second> run(int seconds) throws Exception {
		double[] processor = new double[1];
		return new PacedLoad(new Limiter(), 10, 1, 100, () -> processor[0]++).run(seconds,
				(start) -> this.secondSecond = start + 1_000_000_000);
	}

	/**
	 * Answers with the outcome. Without one it answers nothing in the first second and
	 * allows all from then on.
	 */
	private final class Limiter implements Contender {

		private final List<Answer> waiting = new ArrayList<>();

		private boolean open;

		@Override
		public void check(int key, Answer answer) {
			if (PacedLoadTests.this.outcome != null) {
				answer.complete(PacedLoadTests.this.outcome);
				return;
			}
			this.waiting.add(answer);
			if (this.open) {
				this.waiting.forEach((each) -> each.complete(Outcome.ALLOWED));
				this.waiting.clear();
			}
			// From the next check on: this one may have been sent a moment before.
			this.open = System.nanoTime() - PacedLoadTests.this.secondSecond >= 0;
		}

		@Override
		public void close() {
		}

	}

}
