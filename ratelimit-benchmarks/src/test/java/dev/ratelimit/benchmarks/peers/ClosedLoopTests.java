package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.Tally;

class ClosedLoopTests {

	private static final Workload WORKLOAD = new Workload(Keys.HUNDRED, 8);

	private static final Duration SHORT = Duration.ofMillis(500);

	@Test
	void countsEveryCheckThatIsAnsweredWithinTheCall() {
		AtomicLong calls = new AtomicLong();

		Tally tally = ClosedLoop.checking(contender((answer) -> {
			calls.incrementAndGet();
			answer.complete(Contender.Outcome.ALLOWED);
		}), WORKLOAD).run(SHORT);

		assertThat(tally.checks()).isPositive().isEqualTo(calls.get());
		assertThat(tally.share(Contender.Outcome.ALLOWED)).isEqualTo(1);
	}

	@Test
	void keepsAsManyInFlightAsAskedFor() {
		AtomicInteger inFlight = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		ExecutorService limiter = Executors.newSingleThreadExecutor();
		try {
			Tally tally = ClosedLoop.checking(contender((answer) -> {
				most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
				limiter.execute(() -> {
					inFlight.decrementAndGet();
					answer.complete(Contender.Outcome.REFUSED);
				});
			}), WORKLOAD).run(SHORT);

			assertThat(most).hasValue(8);
			assertThat(tally.share(Contender.Outcome.REFUSED)).isEqualTo(1);
		}
		finally {
			limiter.shutdownNow();
		}
	}

	@Test
	void fillAsksForEveryKeyOnce() {
		AtomicIntegerArray checks = new AtomicIntegerArray(Keys.HUNDRED.count());

		ClosedLoop.fill(new Contender() {

			@Override
			public void check(int key, Answer answer) {
				checks.incrementAndGet(key);
				answer.complete(Outcome.ALLOWED);
			}

			@Override
			public void close() {
			}

		}, WORKLOAD);

		assertThat(IntStream.range(0, checks.length()).map(checks::get)).containsOnly(1);
	}

	@Test
	void lapsedKeysAreAskedInTurnSoThatEachOneComesBackAsLateAsItCan() {
		List<Integer> asked = Collections.synchronizedList(new ArrayList<>());

		ClosedLoop.checking(new Contender() {

			@Override
			public void check(int key, Answer answer) {
				asked.add(key);
				answer.complete(Outcome.ALLOWED);
			}

			@Override
			public void close() {
			}

		}, new Workload(Keys.LAPSED, 1)).run(SHORT);

		assertThat(asked).isNotEmpty()
			.isEqualTo(IntStream.range(0, asked.size()).mapToObj((i) -> i % Keys.LAPSED.count()).toList());
	}

	@Test
	void anExceptionIsAFailedCheck() {
		Tally tally = ClosedLoop.checking(contender((answer) -> {
			throw new IllegalStateException();
		}), WORKLOAD).run(SHORT);

		assertThat(tally.share(Contender.Outcome.FAILED)).isEqualTo(1);
	}

	private static Contender contender(Consumer<Contender.Answer> check) {
		return new Contender() {

			@Override
			public void check(int key, Answer answer) {
				check.accept(answer);
			}

			@Override
			public void close() {
			}

		};
	}

}
