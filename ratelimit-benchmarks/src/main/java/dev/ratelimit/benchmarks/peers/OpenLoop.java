package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends checks at random moments with a given mean rate, whether answers come or not, as
 * independent callers do. Latency counts from the moment at which a check was due, so a
 * pause of the sender or of the limiter shows in every check that it delays.
 */
final class OpenLoop {

	/** Checks beyond this fail unsent; no limiter that keeps up gets there. */
	private static final int MAX_IN_FLIGHT = 20_000;

	/** No limiter takes this long, unless it has lost an answer. */
	private static final Duration LOST = Duration.ofSeconds(90);

	private final Contender contender;

	private final Keys keys;

	private long asked;

	private final double nanosPerCheck;

	private final SplittableRandom random = new SplittableRandom();

	private final AtomicInteger inFlight = new AtomicInteger();

	private final Tallies tallies = new Tallies();

	/**
	 * Creates a loop for one run.
	 * @param rate checks per second
	 */
	OpenLoop(Contender contender, Keys keys, double rate) {
		this.contender = contender;
		this.keys = keys;
		this.nanosPerCheck = 1e9 / rate;
	}

	/** Runs until the time is over and all answers are there. */
	Tally run(Duration duration) {
		long start = System.nanoTime();
		double due = gap();
		while (due < duration.toNanos()) {
			double ahead = due - (System.nanoTime() - start);
			if (ahead > 0) {
				LockSupport.parkNanos((long) ahead);
			}
			else {
				check(start + (long) due);
				due += gap();
			}
		}
		awaitAnswers();
		return this.tallies.sum(System.nanoTime() - start);
	}

	/** Between two checks: exponentially distributed. */
	private double gap() {
		return -Math.log(1 - this.random.nextDouble()) * this.nanosPerCheck;
	}

	private void check(long due) {
		if (this.inFlight.get() >= MAX_IN_FLIGHT) {
			this.tallies.add(System.nanoTime() - due, Contender.Outcome.FAILED);
			return;
		}
		this.inFlight.incrementAndGet();
		Contender.Answer answer = (outcome) -> {
			this.tallies.add(System.nanoTime() - due, outcome);
			this.inFlight.decrementAndGet();
		};
		try {
			this.contender.check(this.keys.next(this.asked++, this.random), answer);
		}
		catch (RuntimeException ex) {
			answer.complete(Contender.Outcome.FAILED);
		}
	}

	private void awaitAnswers() {
		long end = System.nanoTime() + LOST.toNanos();
		while (this.inFlight.get() > 0) {
			if (System.nanoTime() - end > 0) {
				throw new IllegalStateException(this.inFlight.get() + " answers were lost");
			}
			LockSupport.parkNanos(1_000_000);
		}
	}

}
