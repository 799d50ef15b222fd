package dev.ratelimit.benchmarks.peers;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.benchmarks.load.Tallies;
import dev.ratelimit.benchmarks.load.Tally;

/**
 * Keeps a number of checks in flight: each answer sends the next check, on the thread
 * that brought it, so that no thread waits for anything.
 *
 * <p>
 * A limiter that answers within the call would never leave its caller, and one caller
 * would do all the work. Such callers take turns on as many threads as there are cores.
 */
final class ClosedLoop {

	/** Checks of one caller, answered within the call, before others have their turn. */
	private static final int TURN = 256;

	/** No limiter takes this long, unless it has lost an answer. */
	private static final Duration LOST = Duration.ofSeconds(90);

	private static final int OVER = -1;

	private final Asked asked;

	private final Workload workload;

	private ClosedLoop(Asked asked, Workload workload) {
		this.asked = asked;
		this.workload = workload;
	}

	static ClosedLoop checking(Contender contender, Workload workload) {
		return new ClosedLoop(contender::check, workload);
	}

	/**
	 * Makes all counters of a workload, by one check of every key.
	 */
	static void fill(Contender contender, Workload workload) {
		new ClosedLoop(contender::fill, workload).each();
	}

	/**
	 * Runs until the time is over and all answers are there.
	 */
	Tally run(Duration duration) {
		Keys keys = this.workload.keys();
		AtomicLong asked = new AtomicLong();
		long end = System.nanoTime() + duration.toNanos();
		return run(duration, (random, now) -> (now - end >= 0) ? OVER : keys.next(asked.getAndIncrement(), random));
	}

	private void each() {
		int keys = this.workload.keys().count();
		AtomicInteger next = new AtomicInteger();
		run(LOST, (random, now) -> {
			int key = next.getAndIncrement();
			return (key < keys) ? key : OVER;
		});
	}

	private Tally run(Duration duration, KeySource keys) {
		ExecutorService threads = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
		try {
			return new Run(threads, duration, keys).await();
		}
		finally {
			threads.shutdownNow();
		}
	}

	/** What is asked of the contender. */
	private interface Asked {

		void check(int key, Contender.Answer answer);

	}

	/** Which key is next. */
	private interface KeySource {

		/** The key, or {@link #OVER} to stop. */
		int next(SplittableRandom random, long now);

	}

	private final class Run {

		private final ExecutorService threads;

		private final long start = System.nanoTime();

		private final long nanos;

		private final KeySource keys;

		private final Tallies tallies = new Tallies();

		private final CountDownLatch running;

		Run(ExecutorService threads, Duration duration, KeySource keys) {
			this.threads = threads;
			this.keys = keys;
			this.nanos = duration.toNanos();
			int inFlight = ClosedLoop.this.workload.inFlight();
			this.running = new CountDownLatch(inFlight);
			SplittableRandom random = new SplittableRandom();
			for (int i = 0; i < inFlight; i++) {
				threads.execute(new Caller(this, random.split()));
			}
		}

		Tally await() {
			try {
				if (!this.running.await(this.nanos + LOST.toNanos(), TimeUnit.NANOSECONDS)) {
					throw new IllegalStateException(this.running.getCount() + " answers were lost");
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
			return this.tallies.sum(System.nanoTime() - this.start);
		}

	}

	/** One of those in flight: sends a check, takes the answer, sends the next. */
	private final class Caller implements Contender.Answer, Runnable {

		private static final int CALLING = 0;

		private static final int ANSWERED = 1;

		private static final int RETURNED = 2;

		private final Run run;

		private final SplittableRandom random;

		/** Whichever of call and answer comes second goes on. */
		private final AtomicInteger state = new AtomicInteger();

		private long sent;

		Caller(Run run, SplittableRandom random) {
			this.run = run;
			this.random = random;
		}

		@Override
		public void run() {
			this.sent = System.nanoTime();
			proceed(TURN);
		}

		private void proceed(int turn) {
			for (int i = 0; i < turn; i++) {
				int key = this.run.keys.next(this.random, this.sent);
				if (key == OVER) {
					this.run.running.countDown();
					return;
				}
				this.state.set(CALLING);
				check(key);
				if (this.state.compareAndSet(CALLING, RETURNED)) {
					return;
				}
			}
			this.run.threads.execute(this);
		}

		private void check(int key) {
			try {
				ClosedLoop.this.asked.check(key, this);
			}
			catch (RuntimeException ex) {
				complete(Contender.Outcome.FAILED);
			}
		}

		@Override
		public void complete(Contender.Outcome outcome) {
			long now = System.nanoTime();
			this.run.tallies.add(now - this.sent, outcome);
			this.sent = now;
			if (!this.state.compareAndSet(CALLING, ANSWERED)) {
				// The limiter's thread, which has other answers to bring.
				proceed(1);
			}
		}

	}

}
