package dev.ratelimit.benchmarks.inprocess;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * GCRA as one compare-and-swap per check, on the monotonic clock.
 */
final class CasGcra {

	private final AtomicLongArray arrivals;

	private final long interval;

	private final long burst;

	/**
	 * Creates full counters.
	 * @param keys how many
	 * @param interval nanoseconds per permit
	 * @param burst nanoseconds of a full burst
	 */
	CasGcra(int keys, long interval, long burst) {
		this.arrivals = new AtomicLongArray(keys);
		this.interval = interval;
		this.burst = burst;
		long now = System.nanoTime();
		for (int i = 0; i < keys; i++) {
			this.arrivals.set(i, now);
		}
	}

	boolean tryTake(int key) {
		while (true) {
			long now = System.nanoTime();
			long arrival = this.arrivals.get(key);
			long next = ((arrival - now > 0) ? arrival : now) + this.interval;
			if (next - now > this.burst) {
				return false;
			}
			if (this.arrivals.compareAndSet(key, arrival, next)) {
				return true;
			}
		}
	}

}
