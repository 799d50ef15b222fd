package dev.ratelimit.benchmarks.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

import dev.ratelimit.benchmarks.common.Machine;

/**
 * Sends checks at a rate that grows at first, whether answers come or not, and counts by
 * second how many were sent and what became of them. Each thread draws its own callers.
 * Threads send a millisecond's worth at a time and then sleep, so that the limiter's own
 * threads get a processor. A thread that is more than a few milliseconds behind skips
 * what it missed: the rate that was reached is part of the result.
 */
public final class RampedLoad {

	private static final long TICK = 1_000_000;

	private static final long MOST_BEHIND = 5 * TICK;

	/**
	 * One of so many checks is timed: reading the clock twice costs as much as a lease.
	 */
	private static final int TIMED = 64;

	private final Contender contender;

	private final Callers callers;

	private final int threads;

	private final Rate rate;

	private final Tallies timed = new Tallies();

	/**
	 * Creates a load.
	 * @param callers who asks
	 * @param threads that send
	 * @param rate of all together
	 */
	public RampedLoad(Contender contender, Callers callers, int threads, Rate rate) {
		this.contender = contender;
		this.callers = callers;
		this.threads = threads;
		this.rate = rate;
	}

	/** Runs for whole seconds, and something else meanwhile on this thread. */
	public List<Second> run(int seconds, Interruption meanwhile) throws Exception {
		Counts[] counts = new Counts[seconds];
		for (int i = 0; i < seconds; i++) {
			counts[i] = new Counts();
		}
		double[] processor = new double[seconds + 1];
		processor[0] = Machine.now().ownSeconds();
		long start = System.nanoTime();
		List<Thread> senders = new ArrayList<>();
		for (int i = 0; i < this.threads; i++) {
			IntSupplier keys = this.callers.drawnBy(i, this.threads);
			Thread sender = new Thread(() -> send(start, keys, counts, processor), "load-" + i);
			sender.setDaemon(true);
			senders.add(sender);
			sender.start();
		}
		meanwhile.run(start);
		for (Thread sender : senders) {
			sender.join(Duration.ofSeconds(seconds + 30L).toMillis());
		}
		List<Second> result = new ArrayList<>();
		for (int i = 0; i < seconds; i++) {
			result.add(new Second(counts[i].sent.sum(), counts[i].refused.sum(), counts[i].degraded.sum(),
					processor[i + 1] - processor[i]));
		}
		return result;
	}

	/** Latency of some of the checks, all seconds together, when the run is over. */
	public Tally latencies() {
		return this.timed.sum(1);
	}

	private void send(long start, IntSupplier keys, Counts[] counts, double[] processor) {
		double owed = 0;
		int known = 0;
		int untimed = 0;
		long last = start;
		while (true) {
			long now = System.nanoTime();
			int second = (int) ((now - start) / 1_000_000_000);
			for (; known < second && known < counts.length; known++) {
				processor[known + 1] = Machine.now().ownSeconds();
			}
			if (second >= counts.length) {
				return;
			}
			owed += this.rate.at((now - start) / 1e9) / this.threads * Math.min(now - last, MOST_BEHIND) / 1e9;
			last = now;
			int count = (int) owed;
			owed -= count;
			Counts current = counts[second];
			for (int i = 0; i < count; i++) {
				boolean time = ++untimed == TIMED;
				this.contender.check(keys.getAsInt(), time ? timed(current) : current);
				untimed = time ? 0 : untimed;
			}
			current.sent.add(count);
			LockSupport.parkNanos(TICK - (System.nanoTime() - now));
		}
	}

	private Contender.Answer timed(Counts counts) {
		long sent = System.nanoTime();
		return (outcome) -> {
			this.timed.add(System.nanoTime() - sent, outcome);
			counts.complete(outcome);
		};
	}

	/** What happens during a run. */
	public interface Interruption {

		void run(long start) throws Exception;

	}

	/** How many checks per second are due. */
	public interface Rate {

		/** At a time in seconds after the start. */
		double at(double seconds);

		/** The same all the time. */
		static Rate of(double rate) {
			return (seconds) -> rate;
		}

		/** Grows from nothing, and then stays. */
		static Rate ramp(double rate, double seconds) {
			return (time) -> (time < seconds) ? rate * time / seconds : rate;
		}

	}

	/** Of one second. Most checks are allowed, so these are not counted. */
	private static final class Counts implements Contender.Answer {

		private final LongAdder sent = new LongAdder();

		private final LongAdder refused = new LongAdder();

		private final LongAdder degraded = new LongAdder();

		@Override
		public void complete(Contender.Outcome outcome) {
			switch (outcome) {
				case ALLOWED -> {
				}
				case REFUSED -> this.refused.increment();
				case FAILED -> this.degraded.increment();
			}
		}

	}

	/**
	 * One second of a run.
	 *
	 * @param sent checks that were sent in it
	 * @param refused how many of these were refused
	 * @param degraded how many of these the failure mode answered
	 * @param processor processor time of load and limiter in it, in seconds
	 */
	public record Second(long sent, long refused, long degraded, double processor) {

		public double undegraded() {
			return (this.sent == 0) ? 0 : 1 - (double) this.degraded / this.sent;
		}

		/** Decisions that the counters made. */
		public long decided() {
			return this.sent - this.degraded;
		}

	}

}
