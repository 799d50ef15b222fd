package dev.ratelimit.benchmarks.load;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/**
 * Sends requests when they are due, whether answers come or not, as independent callers
 * do. Latency counts from the moment at which a request was due, so a pause of the sender
 * or of the limiter shows in every request that it delays.
 */
public final class OpenLoop {

	/** Requests beyond this fail unsent; no limiter that keeps up gets there. */
	private static final int MAX_IN_FLIGHT = 20_000;

	/** No limiter takes this long, unless it has lost an answer. */
	private static final Duration LOST = Duration.ofSeconds(90);

	private final Target target;

	private final Arrivals arrivals;

	private final AtomicInteger inFlight = new AtomicInteger();

	private final Tallies tallies = new Tallies();

	/** Creates a loop for one run. */
	public OpenLoop(Target target, Arrivals arrivals) {
		this.target = target;
		this.arrivals = arrivals;
	}

	/** Runs until the last request was sent and all answers are there. */
	public Tally run() {
		return run((done) -> {
		});
	}

	/**
	 * Runs until the last request was sent and all answers are there.
	 * @param progress takes the due time of each request when it is sent
	 */
	public Tally run(LongConsumer progress) {
		long start = System.nanoTime();
		for (Arrival next = this.arrivals.next(); next != null; next = this.arrivals.next()) {
			awaitDue(start + next.dueNanos());
			send(next, start + next.dueNanos());
			progress.accept(next.dueNanos());
		}
		awaitAnswers();
		return this.tallies.sum(System.nanoTime() - start);
	}

	private static void awaitDue(long due) {
		for (long ahead = due - System.nanoTime(); ahead > 0; ahead = due - System.nanoTime()) {
			LockSupport.parkNanos(ahead);
		}
	}

	private void send(Arrival arrival, long due) {
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
			this.target.send(arrival, answer);
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

	/** Takes requests. */
	public interface Target {

		/**
		 * Sends a request.
		 * @param answer called once, by this call or later by any thread
		 */
		void send(Arrival arrival, Contender.Answer answer);

	}

}
