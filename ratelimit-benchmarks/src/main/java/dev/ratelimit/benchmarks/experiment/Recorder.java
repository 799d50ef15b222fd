package dev.ratelimit.benchmarks.experiment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.benchmarks.load.Arrival;

/**
 * Takes the decisions of an instance. One lock: an instance of an experiment makes some
 * ten thousand decisions a second.
 */
final class Recorder {

	private static final long MAX_NANOS = 120_000_000_000L;

	private final Order order;

	private final long start;

	private final Histogram all = histogram();

	private final Histogram central = histogram();

	private final Histogram local = histogram();

	private final List<SecondCounts> seconds = new ArrayList<>();

	private final long[][] admitted;

	private final long[][] passed;

	private long errors;

	private long refusedWithin;

	private long checksWithin;

	private long degradedWithin;

	private final List<Long> degradedAtMillis = new ArrayList<>();

	private final List<Long> openedAtMillis = new ArrayList<>();

	/** Since the last decision of Redis. */
	private boolean degraded;

	private boolean open;

	/**
	 * Creates a recorder.
	 * @param start when the order began, by the system's nanosecond clock
	 */
	Recorder(Order order, long start) {
		this.order = order;
		this.start = start;
		this.admitted = new long[order.tracked()][order.seconds()];
		this.passed = new long[order.tracked()][order.seconds()];
		for (int i = 0; i < order.seconds(); i++) {
			this.seconds.add(new SecondCounts());
		}
	}

	private static Histogram histogram() {
		return new Histogram(MAX_NANOS, 3);
	}

	/**
	 * Takes a decision.
	 * @param sent when the instance was asked
	 * @param decision {@code null} if it was an exception
	 */
	synchronized void add(Arrival arrival, long sent, @Nullable Decision decision) {
		long now = System.nanoTime();
		long latency = Math.min(MAX_NANOS, now - this.start - arrival.dueNanos());
		int second = (int) Math.min(this.order.seconds() - 1, arrival.dueNanos() / 1_000_000_000);
		SecondCounts counts = this.seconds.get(second);
		this.all.recordValue(latency);
		counts.latencies.recordValue(latency);
		boolean within = arrival.key() >= this.order.over() && arrival.key() < this.order.tracked();
		if (within) {
			this.checksWithin++;
		}
		if (decision == null) {
			this.errors++;
			return;
		}
		if (decision.allowed() && arrival.key() < this.order.tracked()) {
			this.passed[arrival.key()][second] += arrival.cost();
		}
		if (decision.degraded()) {
			counts.degraded++;
			counts.degradedAllowed += decision.allowed() ? 1 : 0;
			this.degradedWithin += (within && !decision.allowed()) ? 1 : 0;
			fault(decision.reason() == Decision.Reason.BREAKER_OPEN);
			return;
		}
		boolean central = decision.source() == Decision.Source.REDIS;
		if (central) {
			this.degraded = false;
			this.open = false;
		}
		(central ? this.central : this.local).recordValue(Math.min(MAX_NANOS, now - sent));
		if (decision.allowed()) {
			counts.allowed++;
			if (arrival.key() < this.order.tracked()) {
				this.admitted[arrival.key()][second] += arrival.cost();
			}
		}
		else {
			counts.refused++;
			this.refusedWithin += within ? 1 : 0;
		}
	}

	private void fault(boolean byBreaker) {
		long millis = (System.nanoTime() - this.start) / 1_000_000;
		if (!this.degraded) {
			this.degraded = true;
			this.degradedAtMillis.add(millis);
		}
		if (byBreaker && !this.open) {
			this.open = true;
			this.openedAtMillis.add(millis);
		}
	}

	synchronized Outcomes outcomes(double seconds, double cpuSeconds) {
		return new Outcomes(this.all.getTotalCount(), seconds, micros(this.all, 50), micros(this.all, 99),
				micros(this.all, 99.9), latency(this.central), latency(this.local), this.errors, lists(this.admitted),
				lists(this.passed), this.refusedWithin, this.degradedWithin, this.checksWithin,
				this.seconds.stream().map(SecondCounts::second).toList(), this.degradedAtMillis, this.openedAtMillis,
				cpuSeconds);
	}

	private static List<List<Long>> lists(long[][] numbers) {
		return Arrays.stream(numbers).map((each) -> Arrays.stream(each).boxed().toList()).toList();
	}

	private static Outcomes.Latency latency(Histogram histogram) {
		return new Outcomes.Latency(histogram.getTotalCount(), micros(histogram, 50), micros(histogram, 99));
	}

	private static double micros(Histogram histogram, double percentile) {
		return histogram.getValueAtPercentile(percentile) / 1e3;
	}

	private static final class SecondCounts {

		private final Histogram latencies = new Histogram(MAX_NANOS, 2);

		private long allowed;

		private long refused;

		private long degraded;

		private long degradedAllowed;

		Outcomes.Second second() {
			return new Outcomes.Second(this.allowed, this.refused, this.degraded, this.degradedAllowed,
					micros(this.latencies, 99));
		}

	}

}
