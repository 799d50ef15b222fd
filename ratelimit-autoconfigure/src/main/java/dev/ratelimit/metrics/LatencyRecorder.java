package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import io.micrometer.core.instrument.Timer;

/**
 * Collects latencies for a timer. Micrometer's timer takes 100 ns for a value, half of it
 * to read the clock, and all threads write to one cell. So values are added up by bucket
 * here, and a background thread hands them over.
 *
 * <p>
 * The timer then has the same count, buckets and maximum as if each value had been
 * recorded, and the same sum except for a fraction of a nanosecond per value.
 */
final class LatencyRecorder {

	private final Timer timer;

	/** The largest value of each bucket but the last, which has no end. */
	private final long[] bounds;

	private final LongAdder[] counts;

	private final LongAdder[] sums;

	/** Two threads may overwrite each other; the next large value corrects it. */
	private volatile long max;

	LatencyRecorder(Timer timer, Duration[] buckets) {
		this.timer = timer;
		this.bounds = Arrays.stream(buckets).mapToLong(Duration::toNanos).toArray();
		this.counts = adders(this.bounds.length + 1);
		this.sums = adders(this.bounds.length + 1);
	}

	private static LongAdder[] adders(int number) {
		LongAdder[] adders = new LongAdder[number];
		Arrays.setAll(adders, (i) -> new LongAdder());
		return adders;
	}

	void record(long nanos) {
		int bucket = 0;
		while (bucket < this.bounds.length && nanos > this.bounds[bucket]) {
			bucket++;
		}
		this.sums[bucket].add(nanos);
		this.counts[bucket].increment();
		if (nanos > this.max) {
			this.max = nanos;
		}
	}

	/**
	 * Hands over all values since the last call.
	 */
	synchronized void handOver() {
		long max = this.max;
		this.max = 0;
		for (int bucket = this.bounds.length; bucket >= 0; bucket--) {
			long count = this.counts[bucket].sumThenReset();
			long sum = this.sums[bucket].sumThenReset();
			if (count > 0 && isIn(bucket, max)) {
				this.timer.record(max, TimeUnit.NANOSECONDS);
				count--;
				sum -= max;
			}
			handOver(bucket, count, sum);
		}
	}

	/**
	 * Values that are being recorded may be in the sum and not in the count yet, so the
	 * mean is kept within the bucket.
	 */
	private void handOver(int bucket, long count, long sum) {
		if (count == 0) {
			this.sums[bucket].add(sum);
			return;
		}
		long least = (bucket > 0) ? this.bounds[bucket - 1] + 1 : 0;
		long most = (bucket < this.bounds.length) ? this.bounds[bucket] : Long.MAX_VALUE;
		long mean = Math.max(least, Math.min(most, sum / count));
		long rest = Math.max(0, Math.min(count, sum - mean * count));
		for (long i = 0; i < count; i++) {
			this.timer.record((i < rest && mean < most) ? mean + 1 : mean, TimeUnit.NANOSECONDS);
		}
	}

	private boolean isIn(int bucket, long nanos) {
		return nanos > 0 && (bucket == 0 || nanos > this.bounds[bucket - 1])
				&& (bucket == this.bounds.length || nanos <= this.bounds[bucket]);
	}

}
