package dev.ratelimit.benchmarks.load;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class OpenLoopTests {

	@Test
	void sendsAsManyChecksAsTheRateSaysHoweverLateTheAnswersCome() {
		ScheduledExecutorService limiter = Executors.newSingleThreadScheduledExecutor();
		try {
			Tally tally = loop(10_000, Duration.ofMillis(500), (answer) -> limiter
				.schedule(() -> answer.complete(Contender.Outcome.ALLOWED), 50, TimeUnit.MILLISECONDS)).run();

			// Six standard deviations of a Poisson distribution.
			assertThat((double) tally.checks()).isCloseTo(5_000, within(425.0));
			assertThat(tally.share(Contender.Outcome.ALLOWED)).isEqualTo(1);
		}
		finally {
			limiter.shutdownNow();
		}
	}

	@Test
	void pauseOfTheLimiterCountsForEveryCheckThatItDelays() {
		AtomicBoolean paused = new AtomicBoolean();

		Tally tally = loop(10_000, Duration.ofMillis(200), (answer) -> {
			if (paused.compareAndSet(false, true)) {
				long end = System.nanoTime() + 100_000_000;
				while (System.nanoTime() - end < 0) {
					Thread.onSpinWait();
				}
			}
			answer.complete(Contender.Outcome.ALLOWED);
		}).run();

		// Half of the checks were due during the pause, and waited for 50 ms on average.
		assertThat(tally.micros(75)).isGreaterThan(25_000);
	}

	@Test
	void anExceptionIsAFailedCheck() {
		Tally tally = loop(1_000, Duration.ofMillis(50), (answer) -> {
			throw new IllegalStateException();
		}).run();

		assertThat(tally.share(Contender.Outcome.FAILED)).isEqualTo(1);
	}

	private static OpenLoop loop(double rate, Duration duration, Consumer<Contender.Answer> check) {
		return new OpenLoop((arrival, answer) -> check.accept(answer),
				Arrivals.random(rate, duration.toNanos(), new SplittableRandom(), (random) -> 0));
	}

}
