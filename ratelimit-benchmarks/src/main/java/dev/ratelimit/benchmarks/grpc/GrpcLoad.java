package dev.ratelimit.benchmarks.grpc;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.load.Tally;

/**
 * A closed loop over one connection: each answer sends the next question, on the
 * connection's thread.
 */
abstract class GrpcLoad {

	/** No answer takes this long, unless it was lost. */
	private static final long LOST_SECONDS = 60;

	/**
	 * Runs until the time is over and all answers are there.
	 */
	final Tally run(Duration duration) {
		long start = System.nanoTime();
		Run run = new Run(start + duration.toNanos(), callers());
		begin(run);
		try {
			if (!run.callers.await(duration.toSeconds() + LOST_SECONDS, TimeUnit.SECONDS)) {
				throw new IllegalStateException("answers were lost");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		synchronized (run) {
			if (run.failure != null) {
				throw new IllegalStateException("the connection failed", run.failure);
			}
			run.tally.took(System.nanoTime() - start);
			return run.tally;
		}
	}

	/** How many callers send, each again when it has its answer. */
	abstract int callers();

	/** Lets every caller send its first question. */
	abstract void begin(Run run);

	/**
	 * One measurement. Its monitor guards the tally.
	 */
	static final class Run {

		private final long end;

		private final Tally tally = new Tally();

		private final CountDownLatch callers;

		private @Nullable Throwable failure;

		private Run(long end, int callers) {
			this.end = end;
			this.callers = new CountDownLatch(callers);
		}

		Tally tally() {
			return this.tally;
		}

		/** Whether a caller asks again; otherwise it has left. */
		boolean goesOn(long now) {
			if (now - this.end < 0) {
				return true;
			}
			this.callers.countDown();
			return false;
		}

		/** Ends the run. */
		void fail(Throwable failure) {
			this.failure = failure;
			while (this.callers.getCount() > 0) {
				this.callers.countDown();
			}
		}

	}

}
