package dev.ratelimit.background;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats work on a daemon thread. Each turn returns the pause before the next one, and
 * {@link #wake} ends a pause early. A turn that throws is tried again after 0.5 to 1 s,
 * at random so that the instances of a fleet do not retry in step. A loop that has ended
 * can be started again.
 */
public final class Loop {

	/** Pause that only {@link #wake} ends. */
	public static final Duration UNTIL_WOKEN = Duration.ofNanos(Long.MAX_VALUE);

	private static final Logger logger = LoggerFactory.getLogger(Loop.class);

	private static final long RETRY_MILLIS = 500;

	private final String name;

	private final Callable<Duration> turn;

	private final AutoCloseable last;

	private final FailureLog failures;

	private volatile @Nullable Run running;

	/**
	 * Creates a loop that has not started.
	 * @param name of the thread
	 * @param turn does the work once and returns the pause before the next turn
	 */
	public Loop(String name, Callable<Duration> turn) {
		this(name, turn, () -> {
		});
	}

	/**
	 * Creates a loop that has not started.
	 * @param last called after the last turn, on the same thread
	 */
	public Loop(String name, Callable<Duration> turn, AutoCloseable last) {
		this(name, turn, last, new FailureLog(logger, "Thread " + name + " failed and tries again ({})",
				"Thread " + name + " works again"));
	}

	/**
	 * Creates a loop that has not started.
	 * @param failures logs turns that throw; its first message has one argument, the
	 * cause
	 */
	public Loop(String name, Callable<Duration> turn, AutoCloseable last, FailureLog failures) {
		this.name = name;
		this.turn = turn;
		this.last = last;
		this.failures = failures;
	}

	/** Starts with a turn at once, unless it is running. */
	public void start() {
		start(Duration.ZERO);
	}

	/** Starts with a pause, unless it is running. */
	public synchronized void start(Duration pause) {
		if (this.running == null) {
			Run run = new Run(pause);
			this.running = run;
			run.thread.start();
		}
	}

	/** Does the first turn on the calling thread and the others on its own. */
	public synchronized void startAfterFirstTurn() {
		if (this.running == null) {
			Run run = new Run(Duration.ZERO);
			try {
				run.pause = run.turn();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			this.running = run;
			run.thread.start();
		}
	}

	/**
	 * Ends the current pause. During a turn, lets the next one follow without a pause.
	 */
	public void wake() {
		Run run = this.running;
		if (run != null) {
			run.wake();
		}
	}

	/**
	 * Ends the loop after the current turn, which is not interrupted.
	 * @param atMost how long to wait for the turn and the last work
	 */
	public void stop(Duration atMost) {
		Run run = stop();
		if (run != null) {
			run.await(atMost);
		}
	}

	/**
	 * Ends the loop and interrupts its thread if it takes too long.
	 * @param atMost how long to wait for the turn and the last work
	 */
	public void end(Duration atMost) {
		Run run = stop();
		if (run != null) {
			run.await(atMost);
			run.thread.interrupt();
		}
	}

	private synchronized @Nullable Run stop() {
		Run run = this.running;
		this.running = null;
		if (run != null) {
			run.ending = true;
			run.wake();
		}
		return run;
	}

	/** From one start to the next end. */
	private final class Run implements Runnable {

		private final Thread thread = new Thread(this, Loop.this.name);

		private final Semaphore wakeUps = new Semaphore(0);

		private Duration pause;

		private volatile boolean ending;

		Run(Duration pause) {
			this.pause = pause;
			this.thread.setDaemon(true);
		}

		void wake() {
			if (this.wakeUps.availablePermits() == 0) {
				this.wakeUps.release();
			}
		}

		@Override
		public void run() {
			try {
				while (isDue()) {
					this.pause = turn();
				}
			}
			catch (InterruptedException ex) {
				logger.debug("Thread {} was interrupted and ends", Loop.this.name);
			}
			finally {
				doLast();
			}
		}

		private void doLast() {
			try {
				Loop.this.last.close();
			}
			catch (Exception ex) {
				failed(ex);
			}
		}

		/** Drains before the turn: what happens during the turn wakes the loop again. */
		private boolean isDue() throws InterruptedException {
			if (!this.ending && this.wakeUps.tryAcquire(this.pause.toNanos(), TimeUnit.NANOSECONDS)) {
				this.wakeUps.drainPermits();
			}
			return !this.ending;
		}

		private Duration turn() throws InterruptedException {
			try {
				Duration next = Loop.this.turn.call();
				Loop.this.failures.worked();
				return next;
			}
			catch (InterruptedException ex) {
				throw ex;
			}
			catch (Exception | LinkageError | StackOverflowError | OutOfMemoryError ex) {
				if (!this.ending) {
					failed(ex);
				}
				return Duration.ofMillis(RETRY_MILLIS + ThreadLocalRandom.current().nextLong(RETRY_MILLIS));
			}
		}

		private void failed(Throwable failure) {
			if (!Loop.this.failures.isFailing()) {
				logger.debug("Thread {} failed", Loop.this.name, failure);
			}
			Loop.this.failures.failed(Futures.cause(failure).toString());
		}

		private void await(Duration atMost) {
			try {
				if (atMost.toMillis() > 0 && this.thread != Thread.currentThread()) {
					this.thread.join(atMost.toMillis());
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
