package dev.ratelimit.benchmarks.recovery;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;

import dev.ratelimit.benchmarks.load.Contender;

/**
 * Sends checks at a given rate, whether answers come or not, and counts by second how
 * many were sent, and how many were answered, by the limits or not. An answer counts in
 * the second in which it comes: a gateway that is behind would otherwise seem to foresee
 * an outage. Threads send a millisecond's worth at a time and then sleep, so that the
 * limiter's own threads get a processor. A thread that is more than a few milliseconds
 * behind skips what it missed: the rate that was reached is part of the result.
 */
final class PacedLoad {

	private static final long TICK = 1_000_000;

	private static final long MOST_BEHIND = 5 * TICK;

	private final Contender contender;

	private final int keys;

	private final int threads;

	private final double perTick;

	private final DoubleSupplier processor;

	/** The next caller: all callers in turn, over all threads. */
	private final AtomicInteger next = new AtomicInteger();

	/**
	 * Creates a load.
	 * @param keys number of callers
	 * @param threads that send
	 * @param rate checks per second
	 * @param processor processor time so far, in seconds
	 */
	PacedLoad(Contender contender, int keys, int threads, double rate, DoubleSupplier processor) {
		this.contender = contender;
		this.keys = keys;
		this.threads = threads;
		this.perTick = rate / threads * TICK / 1e9;
		this.processor = processor;
	}

	/** Runs for whole seconds, and something else meanwhile on this thread. */
	List<Second> run(int seconds, Interruption meanwhile) throws Exception {
		Run run = new Run(seconds, System.nanoTime());
		List<Thread> senders = new ArrayList<>();
		for (int i = 0; i < this.threads; i++) {
			Thread sender = new Thread(run::send, "load-" + i);
			sender.setDaemon(true);
			senders.add(sender);
			sender.start();
		}
		meanwhile.run(run.start);
		for (Thread sender : senders) {
			sender.join(Duration.ofSeconds(seconds + 30L).toMillis());
		}
		return run.result();
	}

	/** What happens during a run. */
	interface Interruption {

		void run(long start) throws Exception;

	}

	/** One run: what is counted, by second. */
	private final class Run implements Contender.Answer {

		private final int seconds;

		private final long start;

		private final LongAdder[] sent;

		private final LongAdder[] decided;

		private final LongAdder[] notDecided;

		private final double[] processor;

		/** The second that all who send agree on, without a look at the clock. */
		private volatile int now;

		Run(int seconds, long start) {
			this.seconds = seconds;
			this.start = start;
			// One more for answers that come after the end.
			this.sent = adders(seconds + 1);
			this.decided = adders(seconds + 1);
			this.notDecided = adders(seconds + 1);
			this.processor = new double[seconds + 1];
			this.processor[0] = PacedLoad.this.processor.getAsDouble();
		}

		private static LongAdder[] adders(int count) {
			return IntStream.range(0, count).mapToObj((i) -> new LongAdder()).toArray(LongAdder[]::new);
		}

		@Override
		public void complete(Contender.Outcome outcome) {
			((outcome != Contender.Outcome.FAILED) ? this.decided : this.notDecided)[this.now].increment();
		}

		void send() {
			double owed = 0;
			long last = this.start;
			while (true) {
				long now = System.nanoTime();
				int second = (int) Math.min(this.seconds, (now - this.start) / 1_000_000_000);
				reach(second);
				if (second == this.seconds) {
					return;
				}
				owed += PacedLoad.this.perTick * Math.min(now - last, MOST_BEHIND) / TICK;
				last = now;
				int count = (int) owed;
				owed -= count;
				int key = Math.floorMod(PacedLoad.this.next.getAndAdd(count), PacedLoad.this.keys);
				for (int i = 0; i < count; i++) {
					PacedLoad.this.contender.check(key, this);
					key = (key + 1 == PacedLoad.this.keys) ? 0 : key + 1;
				}
				this.sent[second].add(count);
				LockSupport.parkNanos(TICK - (System.nanoTime() - now));
			}
		}

		private void reach(int second) {
			if (second == this.now) {
				return;
			}
			synchronized (this) {
				for (int reached = this.now; reached < second; reached++) {
					this.processor[reached + 1] = PacedLoad.this.processor.getAsDouble();
					this.now = reached + 1;
				}
			}
		}

		List<Second> result() {
			return IntStream.range(0, this.seconds)
				.mapToObj((i) -> Second.of(this.sent[i].sum(), this.decided[i].sum(), this.notDecided[i].sum(),
						this.processor[i + 1] - this.processor[i]))
				.toList();
		}

	}

	/**
	 * One second of a run.
	 *
	 * @param sent checks that were sent in it
	 * @param answered answers that came in it
	 * @param undegraded share of these answers that the limits gave, not the failure mode
	 * @param processor processor time in it, in seconds
	 */
	record Second(long sent, long answered, double undegraded, double processor) {

		static Second of(long sent, long decided, long notDecided, double processor) {
			long answered = decided + notDecided;
			return new Second(sent, answered, (answered == 0) ? 0 : (double) decided / answered, processor);
		}

	}

}
