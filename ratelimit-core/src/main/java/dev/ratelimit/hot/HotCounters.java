package dev.ratelimit.hot;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Demand;

/**
 * Finds hot counters: those with so many requests that it pays to take their permits
 * ahead.
 *
 * <p>
 * Each instance counts in intervals of a quarter of a second. A counter is hot if its
 * checks reach this instance's share of the threshold, assuming a load balancer that
 * spreads them evenly. The larger the fleet, the fewer checks a share is; a few checks
 * prove nothing, so chance must be ruled out too ({@link Thresholds}). Where no instance
 * sees enough, counters with a fraction of the share are candidates: the instances add up
 * their rates every second, and a counter that is hot by the sum is hot in every
 * instance. A counter stays hot until its rate was below half of the threshold for a
 * second, in this instance and in the fleet, so that a rate around the threshold does not
 * switch to and fro.
 *
 * <p>
 * A check costs a look-up among the few counters that are watched, and for all others a
 * count in a {@link Sketch}, which finds new candidates. The number of candidates is
 * bounded; when it is reached the bar is raised, so that the busiest are kept. The bar is
 * at least two checks, so that a million counters with one check each are not candidates.
 * In a large fleet two checks are more than a fraction of the share of one interval, so
 * there a sketch counts for a whole second. With 2,000 instances and a threshold of
 * 10,000, a counter at the threshold has five checks a second in each instance; the sum
 * then misses less than a hundredth of its checks.
 */
public final class HotCounters implements Demand {

	static final long INTERVAL_NANOS = Duration.ofMillis(250).toNanos();

	static final long SECOND_NANOS = Duration.ofSeconds(1).toNanos();

	private static final int MAX_CANDIDATES = 512;

	/**
	 * Reading the clock costs as much as the rest of a check, so it is not read each
	 * time.
	 */
	private static final int CLOCK_MASK = 15;

	private final long threshold;

	private final int maximum;

	private final IntSupplier instances;

	private final LongSupplier nanos;

	private final Map<Counter, Candidate> known = new ConcurrentHashMap<>();

	private final AtomicLong end;

	/** Held by the thread that changes candidates other than by counting. */
	private final ReentrantLock turning = new ReentrantLock();

	private volatile Sketch sketch;

	private Sketch spare;

	private volatile Thresholds thresholds;

	/** Intervals that the sketch has counted, with the current one. */
	private volatile int age = 1;

	/** Checks in the life of a sketch that make a counter a candidate. */
	private volatile int bar;

	private volatile boolean crowded;

	private volatile FleetView fleet;

	private volatile List<HotCounter> top = List.of();

	/**
	 * @param threshold checks per second over the fleet that make a counter hot
	 * @param maximum largest number of hot counters
	 * @param instances number of instances that share the traffic
	 * @param nanos a monotonic clock
	 */
	public HotCounters(long threshold, int maximum, IntSupplier instances, LongSupplier nanos) {
		this(threshold, maximum, instances, nanos, Sketch::new);
	}

	HotCounters(long threshold, int maximum, IntSupplier instances, LongSupplier nanos, Supplier<Sketch> sketches) {
		if (threshold < 1) {
			throw new IllegalArgumentException("threshold must be at least 1 check per second but was " + threshold);
		}
		this.threshold = threshold;
		this.maximum = maximum;
		this.instances = instances;
		this.nanos = nanos;
		this.sketch = sketches.get();
		this.spare = sketches.get();
		this.fleet = new FleetView(HotStore.View.NOTHING, threshold);
		this.thresholds = Thresholds.of(threshold, instances.getAsInt());
		this.bar = this.thresholds.lowestBar();
		this.end = new AtomicLong(nanos.getAsLong() + INTERVAL_NANOS);
	}

	@Override
	public boolean isHot(Counter counter) {
		Candidate candidate = this.known.isEmpty() ? null : this.known.get(counter);
		return candidate != null && candidate.isHot();
	}

	@Override
	public void count(Counter counter) {
		Candidate candidate = this.known.isEmpty() ? null : this.known.get(counter);
		int count = (candidate != null) ? candidate.count() : this.sketch.add(counter.hashCode());
		if ((count & CLOCK_MASK) == 0) {
			turnIfDue();
		}
		if (candidate == null) {
			if (count >= this.bar || this.fleet.contains(counter)) {
				admit(counter, count);
			}
		}
		// An interval that has not been ended in time is too long to count as one.
		else if (!candidate.isHot() && count >= this.thresholds.enough() && turnIfDue() > 0) {
			candidate.promote();
		}
	}

	/**
	 * The marks of the fleet, as last heard. The same list until the next exchange.
	 */
	public List<HotMark> marks() {
		return this.fleet.marks();
	}

	/**
	 * The whole counter with this key, {@code null} if it has too few requests in this
	 * instance to be watched.
	 */
	public @Nullable Counter find(String key) {
		for (Candidate candidate : this.known.values()) {
			if (candidate.name().key().equals(key)) {
				return candidate.counter().whole();
			}
		}
		return null;
	}

	/**
	 * The number of hot counters.
	 */
	public int size() {
		return (int) this.known.values().stream().filter(Candidate::isHot).count();
	}

	/**
	 * The busiest counters of the fleet, busiest first, then marked counters without
	 * traffic. Refreshed about once a second. The list is immutable.
	 */
	public List<HotCounter> top() {
		return this.top;
	}

	/**
	 * The highest rate, in checks per second over the fleet; 0 if none is known.
	 */
	public long maxRate() {
		List<HotCounter> top = this.top;
		return top.isEmpty() ? 0 : top.get(0).perSecond();
	}

	/**
	 * The busiest counters of this instance, busiest first. Makes keys, so it is too slow
	 * for the path of a check.
	 */
	List<HotKey> seen(int most) {
		this.turning.lock();
		try {
			turnIfDue();
			return this.known.values()
				.stream()
				.sorted(Comparator.comparingLong(Candidate::perSecond).reversed())
				.limit(most)
				.filter((candidate) -> candidate.perSecond() > 0)
				.map((candidate) -> new HotKey(candidate.name(), candidate.perSecond()))
				.toList();
		}
		finally {
			this.turning.unlock();
		}
	}

	void learn(HotStore.View view) {
		FleetView fleet = new FleetView(view, this.threshold);
		Set<String> hot = new HashSet<>();
		this.turning.lock();
		try {
			for (Candidate candidate : this.known.values()) {
				String key = candidate.name().key();
				candidate.learn(fleet.isHot(key), fleet.isHeld(key));
				if (candidate.isHot()) {
					hot.add(key);
				}
			}
			this.fleet = fleet;
			this.top = fleet.counters(hot);
		}
		finally {
			this.turning.unlock();
		}
	}

	/**
	 * Begins to watch a counter, if there is room.
	 * @param count how often it was counted since the sketch began
	 */
	private void admit(Counter counter, int count) {
		boolean held = this.fleet.contains(counter);
		// At least so many checks fell into one of the sketch's intervals.
		int perInterval = count / this.age;
		boolean hot = held || perInterval >= this.thresholds.enough();
		if (this.known.size() >= (hot ? this.maximum : Math.min(MAX_CANDIDATES, this.maximum))) {
			this.crowded = true;
			return;
		}
		this.known.putIfAbsent(counter, new Candidate(counter, perInterval, hot, held));
	}

	/**
	 * Begins a new interval if it is time. Must also be called now and then while there
	 * are no checks.
	 * @return nanoseconds until this interval ends, 0 if one has just ended
	 */
	long turnIfDue() {
		long now = this.nanos.getAsLong();
		long end = this.end.get();
		if (now - end < 0) {
			return end - now;
		}
		// A check never waits here: if the fleet's view is being read, the next one
		// turns.
		if (this.turning.tryLock()) {
			try {
				if (this.end.compareAndSet(end, now + INTERVAL_NANOS)) {
					turn(now - end + INTERVAL_NANOS);
				}
			}
			finally {
				this.turning.unlock();
			}
		}
		return 0;
	}

	/**
	 * Begins a new interval. Only one thread gets here, and rarely.
	 * @param length nanoseconds of the interval that is over, which is too long if there
	 * were no checks at its end
	 */
	private void turn(long length) {
		// Half of the rates that make a counter hot, and a candidate.
		double calm = this.thresholds.enough() / 2.0 * SECOND_NANOS / INTERVAL_NANOS;
		double least = this.bar / 2.0 / this.thresholds.life() * SECOND_NANOS / INTERVAL_NANOS;
		this.known.values().forEach((candidate) -> {
			candidate.turn(length, calm);
			if (!candidate.isHot() && !candidate.isNew() && candidate.perSecond() < least) {
				this.known.remove(candidate.counter());
			}
		});
		boolean replaced = this.age >= this.thresholds.life();
		if (replaced) {
			Sketch seen = this.sketch;
			this.spare.clear();
			this.sketch = this.spare;
			this.spare = seen;
		}
		this.age = replaced ? 1 : this.age + 1;
		this.thresholds = Thresholds.of(this.threshold, this.instances.getAsInt());
		this.bar = nextBar(this.thresholds);
	}

	private int nextBar(Thresholds thresholds) {
		int next = (this.known.size() < MAX_CANDIDATES / 8) ? this.bar / 2 : this.bar;
		if (this.crowded) {
			this.crowded = false;
			// A counter with so many checks in the life of a sketch is hot.
			next = Math.min(2 * this.bar, thresholds.life() * thresholds.enough());
		}
		return Math.max(thresholds.lowestBar(), next);
	}

}
