package dev.ratelimit.app.fault;

import java.time.Duration;

import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.ConcurrentHistogram;

/** A histogram from a microsecond to a minute, which many threads may write to. */
final class Latencies {

	private static final long HIGHEST = Duration.ofMinutes(1).toNanos();

	private final AbstractHistogram histogram = new ConcurrentHistogram(1_000, HIGHEST, 2);

	void record(long nanos) {
		this.histogram.recordValue(Math.min(Math.max(0, nanos), HIGHEST));
	}

	void add(Latencies other) {
		this.histogram.add(other.histogram);
	}

	long count() {
		return this.histogram.getTotalCount();
	}

	Duration percentile(double percentile) {
		return Duration.ofNanos(this.histogram.getValueAtPercentile(percentile));
	}

	Duration max() {
		return Duration.ofNanos(this.histogram.getMaxValue());
	}

}
