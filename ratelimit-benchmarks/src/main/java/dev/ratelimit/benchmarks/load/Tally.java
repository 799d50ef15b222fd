package dev.ratelimit.benchmarks.load;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * What one thread saw, or all of them together. Not for several threads at a time.
 */
public final class Tally {

	private static final long MAX_NANOS = 120_000_000_000L;

	private final Histogram latencies = new Histogram(MAX_NANOS, 3);

	private final long[] outcomes = new long[Contender.Outcome.values().length];

	private long nanos;

	public void add(long latency, Contender.Outcome outcome) {
		this.latencies.recordValue(Math.min(latency, MAX_NANOS));
		this.outcomes[outcome.ordinal()]++;
	}

	public void add(Tally other) {
		this.latencies.add(other.latencies);
		for (int i = 0; i < this.outcomes.length; i++) {
			this.outcomes[i] += other.outcomes[i];
		}
	}

	public void took(long nanos) {
		this.nanos = nanos;
	}

	public double seconds() {
		return this.nanos / 1e9;
	}

	public long count(Contender.Outcome outcome) {
		return this.outcomes[outcome.ordinal()];
	}

	public long checks() {
		return this.latencies.getTotalCount();
	}

	public double throughput() {
		return checks() / seconds();
	}

	public double share(Contender.Outcome outcome) {
		return (double) this.outcomes[outcome.ordinal()] / Math.max(1, checks());
	}

	public double micros(double percentile) {
		return this.latencies.getValueAtPercentile(percentile) / 1e3;
	}

	/** Writes the latencies, in nanoseconds, as a log of one interval. */
	public void writeLog(File file) throws IOException {
		try (PrintStream out = new PrintStream(file, StandardCharsets.US_ASCII)) {
			HistogramLogWriter log = new HistogramLogWriter(out);
			log.outputLogFormatVersion();
			log.outputComment("latency in nanoseconds");
			log.outputLegend();
			log.outputIntervalHistogram(0, seconds(), this.latencies, 1);
		}
	}

}
