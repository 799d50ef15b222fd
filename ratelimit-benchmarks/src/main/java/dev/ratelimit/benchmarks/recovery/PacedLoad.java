package dev.ratelimit.benchmarks.recovery;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleSupplier;

import dev.ratelimit.benchmarks.peers.Contender;

/**
 * Sends checks at a given rate, whether answers come or not, and counts by second how
 * many were sent and how many were degraded. Threads send a millisecond's worth at a time
 * and then sleep, so that the limiter's own threads get a processor. A thread that is
 * more than a few milliseconds behind skips what it missed: the rate that was reached is
 * part of the result.
 */
final class PacedLoad {

	private static final long TICK = 1_000_000;

	private static final long MOST_BEHIND = 5 * TICK;

	/** Checks that are not answered this long after the end were not decided. */
	private static final Duration LAST_ANSWERS = Duration.ofSeconds(5);

	private final Contender contender;

	private final int keys;

	private final int threads;

	private final double perTick;

	private final DoubleSupplier processor;

	/** The next caller: all callers in turn, over all threads. */
	private final AtomicInteger next = new AtomicInteger();

	private final LongAdder failed = new LongAdder();

	/**
	 * Creates a load for one run.
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
		LongAdder[] sent = adders(seconds);
		LongAdder[] decided = adders(seconds);
		double[] processor = new double[seconds + 1];
		processor[0] = this.processor.getAsDouble();
		long start = System.nanoTime();
		List<Thread> senders = new ArrayList<>();
		for (int i = 0; i < this.threads; i++) {
			Thread sender = new Thread(() -> send(start, sent, decided, processor), "load-" + i);
			sender.setDaemon(true);
			senders.add(sender);
			sender.start();
		}
		meanwhile.run(start);
		for (Thread sender : senders) {
			sender.join(Duration.ofSeconds(seconds + 30L).toMillis());
		}
		awaitAnswers(sent, decided);
		List<Second> result = new ArrayList<>();
		for (int i = 0; i < seconds; i++) {
			result.add(Second.of(sent[i].sum(), decided[i].sum(), processor[i + 1] - processor[i]));
		}
		return result;
	}

	/** Of the last checks, which would count as not decided otherwise. */
	private void awaitAnswers(LongAdder[] sent, LongAdder[] decided) {
		long end = System.nanoTime() + LAST_ANSWERS.toNanos();
		while (sum(decided) + this.failed.sum() < sum(sent) && System.nanoTime() - end < 0) {
			LockSupport.parkNanos(TICK);
		}
	}

	private static long sum(LongAdder[] adders) {
		return Arrays.stream(adders).mapToLong(LongAdder::sum).sum();
	}

	private static LongAdder[] adders(int count) {
		LongAdder[] adders = new LongAdder[count];
		for (int i = 0; i < count; i++) {
			adders[i] = new LongAdder();
		}
		return adders;
	}

	private void send(long start, LongAdder[] sent, LongAdder[] decided, double[] processor) {
		double owed = 0;
		int known = 0;
		long last = start;
		while (true) {
			long now = System.nanoTime();
			int second = (int) ((now - start) / 1_000_000_000);
			for (; known < second && known < sent.length; known++) {
				processor[known + 1] = this.processor.getAsDouble();
			}
			if (second >= sent.length) {
				return;
			}
			owed += this.perTick * Math.min(now - last, MOST_BEHIND) / TICK;
			last = now;
			int count = (int) owed;
			owed -= count;
			int key = Math.floorMod(this.next.getAndAdd(count), this.keys);
			LongAdder passed = decided[second];
			Contender.Answer answer = (outcome) -> {
				((outcome != Contender.Outcome.FAILED) ? passed : this.failed).increment();
			};
			for (int i = 0; i < count; i++) {
				this.contender.check(key, answer);
				key = (key + 1 == this.keys) ? 0 : key + 1;
			}
			sent[second].add(count);
			LockSupport.parkNanos(TICK - (System.nanoTime() - now));
		}
	}

	/** What happens during a run. */
	interface Interruption {

		void run(long start) throws Exception;

	}

	/**
	 * One second of a run.
	 *
	 * @param sent checks that were sent in it
	 * @param undegraded share of these that the limits decided, not the failure mode
	 * @param processor processor time in it, in seconds
	 */
	record Second(long sent, double undegraded, double processor) {

		static Second of(long sent, long decided, double processor) {
			return new Second(sent, (sent == 0) ? 0 : (double) decided / sent, processor);
		}

	}

}
