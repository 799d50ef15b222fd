package dev.ratelimit.benchmarks.recovery;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

import dev.ratelimit.benchmarks.common.Machine;
import dev.ratelimit.benchmarks.load.Contender;

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

	private final Contender contender;

	private final int keys;

	private final int threads;

	private final double perTick;

	/** The next caller: all callers in turn, over all threads. */
	private final AtomicInteger next = new AtomicInteger();

	PacedLoad(Contender contender, int keys, int threads, double rate) {
		this.contender = contender;
		this.keys = keys;
		this.threads = threads;
		this.perTick = rate / threads * TICK / 1e9;
	}

	/** Runs for whole seconds, and something else meanwhile on this thread. */
	List<Second> run(int seconds, Interruption meanwhile) throws Exception {
		LongAdder[] sent = adders(seconds);
		LongAdder[] degraded = adders(seconds);
		double[] processor = new double[seconds + 1];
		processor[0] = Machine.now().ownSeconds();
		long start = System.nanoTime();
		List<Thread> senders = new ArrayList<>();
		for (int i = 0; i < this.threads; i++) {
			Thread sender = new Thread(() -> send(start, sent, degraded, processor), "load-" + i);
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
			result.add(new Second(sent[i].sum(), degraded[i].sum(), processor[i + 1] - processor[i]));
		}
		return result;
	}

	private static LongAdder[] adders(int count) {
		LongAdder[] adders = new LongAdder[count];
		for (int i = 0; i < count; i++) {
			adders[i] = new LongAdder();
		}
		return adders;
	}

	private void send(long start, LongAdder[] sent, LongAdder[] degraded, double[] processor) {
		double owed = 0;
		int known = 0;
		long last = start;
		while (true) {
			long now = System.nanoTime();
			int second = (int) ((now - start) / 1_000_000_000);
			for (; known < second && known < sent.length; known++) {
				processor[known + 1] = Machine.now().ownSeconds();
			}
			if (second >= sent.length) {
				return;
			}
			owed += this.perTick * Math.min(now - last, MOST_BEHIND) / TICK;
			last = now;
			int count = (int) owed;
			owed -= count;
			int key = Math.floorMod(this.next.getAndAdd(count), this.keys);
			LongAdder failed = degraded[second];
			Contender.Answer answer = (outcome) -> {
				if (outcome == Contender.Outcome.FAILED) {
					failed.increment();
				}
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
	 * @param degraded how many of these the failure mode answered
	 * @param processor processor time of load and limiter in it, in seconds
	 */
	record Second(long sent, long degraded, double processor) {

		double undegraded() {
			return (this.sent == 0) ? 0 : 1 - (double) this.degraded / this.sent;
		}

	}

}
