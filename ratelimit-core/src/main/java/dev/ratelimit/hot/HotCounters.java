package dev.ratelimit.hot;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import dev.ratelimit.counter.Counter;

/**
 * Which counters are hot: asked for so often that it pays to take their permits ahead.
 *
 * <p>
 * Each instance looks at a quarter of a second at a time, and takes a counter for hot
 * that it is asked for as often as its share of the threshold, as a fleet behind a load
 * balancer is. A counter stays hot until it was below half of that for a second, so that
 * one around the threshold does not go to and fro.
 */
public final class HotCounters implements Predicate<Counter> {

	private static final long INTERVAL_NANOS = Duration.ofMillis(250).toNanos();

	private static final int CALM_INTERVALS = 4;

	private final long threshold;

	private final int maximum;

	private final IntSupplier instances;

	private final LongSupplier nanos;

	private final Map<Counter, Hot> hot = new ConcurrentHashMap<>();

	private final AtomicLong end;

	private volatile Sketch sketch = new Sketch();

	private Sketch spare = new Sketch();

	/**
	 * Creates an empty set.
	 * @param threshold checks per second over the fleet that make a counter hot
	 * @param maximum how many there can be
	 * @param instances how many share the traffic
	 * @param nanos a monotonic clock
	 */
	public HotCounters(long threshold, int maximum, IntSupplier instances, LongSupplier nanos) {
		this.threshold = threshold;
		this.maximum = maximum;
		this.instances = instances;
		this.nanos = nanos;
		this.end = new AtomicLong(nanos.getAsLong() + INTERVAL_NANOS);
	}

	/**
	 * Counts a check and tells whether its counter is hot.
	 */
	@Override
	public boolean test(Counter counter) {
		long now = this.nanos.getAsLong();
		long end = this.end.get();
		if (now - end >= 0 && this.end.compareAndSet(end, now + INTERVAL_NANOS)) {
			turn();
		}
		int count = this.sketch.add(counter.hashCode());
		if (!this.hot.isEmpty() && this.hot.containsKey(counter)) {
			return true;
		}
		if (count >= share() && this.hot.size() < this.maximum) {
			this.hot.put(counter, new Hot());
			return true;
		}
		return false;
	}

	/**
	 * How many are hot.
	 */
	public int size() {
		return this.hot.size();
	}

	/** How many checks of an interval make a counter hot for this instance. */
	private long share() {
		return Math.max(1, this.threshold / this.instances.getAsInt() * INTERVAL_NANOS / 1_000_000_000L);
	}

	/** A new interval begins. Only one thread gets here, and rarely. */
	private synchronized void turn() {
		Sketch seen = this.sketch;
		this.spare.clear();
		this.sketch = this.spare;
		this.spare = seen;
		long calm = share() / 2;
		this.hot.forEach((counter, hot) -> {
			hot.calmFor = (seen.count(counter.hashCode()) < calm) ? hot.calmFor + 1 : 0;
			if (hot.calmFor >= CALM_INTERVALS) {
				this.hot.remove(counter);
			}
		});
	}

	private static final class Hot {

		private int calmFor;

	}

}
