package dev.ratelimit.hot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterName;
import dev.ratelimit.counter.HotKey;
import dev.ratelimit.counter.HotMark;
import dev.ratelimit.counter.HotStore;

/**
 * Which counters are hot: asked for so often that it pays to take their permits ahead.
 *
 * <p>
 * Each instance looks at a quarter of a second at a time, and takes a counter for hot
 * that it is asked for as often as its share of the threshold, as a fleet behind a load
 * balancer is. The larger the fleet, the fewer checks that is: a share of a few checks
 * says nothing, so chance must be ruled out too ({@link #enough}). Where no instance sees
 * enough, those that are asked for a fraction of their share are candidates, whose rates
 * the instances add up every second, and what is hot by the sum is hot for all. A counter
 * stays hot until it was below half of that for a second, by this instance's count and by
 * the fleet's, so that one around the threshold does not go to and fro.
 *
 * <p>
 * A check costs a look at the few counters that are known, and for all others a place in
 * a {@link Sketch}, which finds those that are worth knowing. There is room for a fixed
 * number of candidates; where more apply the bar is raised, so that it is the busiest
 * that are kept. The bar is never below two checks: a million counters that come once
 * each are none. In a large fleet two checks are more than a fraction of the share of a
 * quarter of a second, so there a sketch counts for a whole second. With 2,000 instances
 * and a threshold of 10,000, a counter at the threshold comes five times a second; of
 * what is asked, under a hundredth is then missing in the sum.
 */
public final class HotCounters implements Predicate<Counter>, HotList {

	private static final long INTERVAL_NANOS = Duration.ofMillis(250).toNanos();

	private static final long SECOND_NANOS = Duration.ofSeconds(1).toNanos();

	/** What all instances leave out is at most this part of the threshold. */
	private static final int FRACTION = 16;

	private static final int MAX_CANDIDATES = 512;

	/** Fewer checks in an interval make no counter hot. */
	private static final int LEAST_ENOUGH = 8;

	/** Fewer checks while a sketch counts make no counter a candidate. */
	private static final int LEAST_BAR = 2;

	/** Intervals that a sketch counts in a large fleet: a second. */
	private static final int LONG_LIFE = 4;

	/**
	 * How far, in standard deviations, chance may take a counter at half of its share.
	 */
	private static final int DEVIATIONS = 6;

	/**
	 * To look at the clock costs as much as all the rest, so it is not done every time.
	 */
	private static final int CLOCK_MASK = 15;

	private final long threshold;

	private final int maximum;

	private final IntSupplier instances;

	private final LongSupplier nanos;

	private final Map<Counter, Candidate> known = new ConcurrentHashMap<>();

	private final AtomicLong end;

	private volatile Sketch sketch;

	private Sketch spare;

	/** Intervals that the sketch counts before it is replaced. */
	private int life;

	/** Which of these intervals it is, from 1. */
	private volatile int age = 1;

	/** Checks of an interval that make a counter hot for this instance. */
	private volatile int enough;

	/** Checks in the life of a sketch that make a counter a candidate. */
	private volatile int bar;

	private volatile boolean crowded;

	private volatile Wanted wanted = Wanted.NONE;

	private volatile MarkedSplits splits = MarkedSplits.NONE;

	private volatile List<HotCounter> top = List.of();

	/**
	 * Creates an empty set.
	 * @param threshold checks per second over the fleet that make a counter hot
	 * @param maximum how many there can be
	 * @param instances how many share the traffic
	 * @param nanos a monotonic clock
	 */
	public HotCounters(long threshold, int maximum, IntSupplier instances, LongSupplier nanos) {
		this(threshold, maximum, instances, nanos, Sketch::new);
	}

	HotCounters(long threshold, int maximum, IntSupplier instances, LongSupplier nanos, Supplier<Sketch> sketches) {
		if (threshold < 1) {
			throw new IllegalArgumentException("a threshold is at least 1 check per second but was " + threshold);
		}
		this.threshold = threshold;
		this.maximum = maximum;
		this.instances = instances;
		this.nanos = nanos;
		this.sketch = sketches.get();
		this.spare = sketches.get();
		double share = share();
		this.life = life(share);
		this.enough = enough(share);
		this.bar = lowestBar(share);
		this.end = new AtomicLong(nanos.getAsLong() + INTERVAL_NANOS);
	}

	/**
	 * Counts a check and tells whether its counter is hot.
	 */
	@Override
	public boolean test(Counter counter) {
		return count(counter);
	}

	boolean count(Counter counter) {
		Candidate candidate = this.known.isEmpty() ? null : this.known.get(counter);
		int count = (candidate != null) ? candidate.count() : this.sketch.add(counter.hashCode());
		if ((count & CLOCK_MASK) == 0) {
			turnIfDue();
		}
		if (candidate == null) {
			return (count >= this.bar || this.wanted.contains(counter)) && admit(counter, count);
		}
		// An interval that nobody has ended is too long to count as one.
		if (!candidate.isHot() && count >= this.enough && turnIfDue() > 0) {
			candidate.promote();
		}
		return candidate.isHot();
	}

	/**
	 * In how many parts a counter is kept now: as a mark says, or as its limit does.
	 */
	public int parts(Counter counter) {
		return this.splits.parts(counter);
	}

	/**
	 * The whole counter with that key, {@code null} if this instance is not asked for it
	 * often enough to know it.
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
	 * How many are hot.
	 */
	public int size() {
		return (int) this.known.values().stream().filter(Candidate::isHot).count();
	}

	@Override
	public List<HotCounter> top() {
		return this.top;
	}

	/**
	 * What this instance is asked for most, most first. Makes keys, so it is not for a
	 * thread that is in a hurry.
	 */
	synchronized List<HotKey> seen(int most) {
		turnIfDue();
		return this.known.values()
			.stream()
			.sorted(Comparator.comparingLong(Candidate::perSecond).reversed())
			.limit(most)
			.filter((candidate) -> candidate.perSecond() > 0)
			.map((candidate) -> new HotKey(candidate.name(), candidate.perSecond()))
			.toList();
	}

	/**
	 * What the fleet is asked for most, and what is marked.
	 */
	synchronized void told(HotStore.View view) {
		Map<String, Long> rates = new HashMap<>();
		Set<String> marked = new HashSet<>();
		List<CounterName> wanted = new ArrayList<>();
		for (HotKey key : view.fleet()) {
			rates.put(key.name().key(), key.perSecond());
			if (key.perSecond() >= this.threshold) {
				wanted.add(key.name());
			}
		}
		for (HotMark mark : view.marks()) {
			marked.add(mark.name().key());
			wanted.add(mark.name());
		}
		Set<String> hot = new HashSet<>();
		for (Candidate candidate : this.known.values()) {
			String key = candidate.name().key();
			long rate = rates.getOrDefault(key, 0L);
			boolean isMarked = marked.contains(key);
			candidate.told(isMarked || rate >= this.threshold, isMarked || 2 * rate >= this.threshold);
			if (candidate.isHot()) {
				hot.add(key);
			}
		}
		this.splits = MarkedSplits.of(view.marks());
		this.wanted = new Wanted(wanted);
		this.top = list(view, hot);
	}

	private List<HotCounter> list(HotStore.View view, Set<String> hot) {
		Map<String, HotMark> marks = new HashMap<>();
		view.marks().forEach((mark) -> marks.put(mark.name().key(), mark));
		List<HotCounter> list = new ArrayList<>();
		for (HotKey key : view.fleet()) {
			HotMark mark = marks.remove(key.name().key());
			boolean isHot = mark != null || key.perSecond() >= this.threshold || hot.contains(key.name().key());
			list.add(new HotCounter(key.name(), key.perSecond(), isHot, mark));
		}
		view.marks().forEach((mark) -> {
			if (marks.containsKey(mark.name().key())) {
				list.add(new HotCounter(mark.name(), 0, true, mark));
			}
		});
		return List.copyOf(list);
	}

	/**
	 * A counter that nobody knew until now.
	 * @param count how often it came by since the sketch began
	 */
	private boolean admit(Counter counter, int count) {
		boolean held = this.wanted.contains(counter);
		// So many at least came by in one of the sketch's intervals.
		int perInterval = count / this.age;
		boolean hot = held || perInterval >= this.enough;
		if (this.known.size() >= (hot ? this.maximum : Math.min(MAX_CANDIDATES, this.maximum))) {
			this.crowded = true;
			return false;
		}
		Candidate candidate = new Candidate(counter, perInterval, hot, held);
		@Nullable Candidate other = this.known.putIfAbsent(counter, candidate);
		return (other != null) ? other.isHot() : hot;
	}

	/**
	 * Begins a new interval if it is time. Also to be called every now and then by
	 * somebody who comes even if no check does.
	 * @return nanoseconds until this interval ends, 0 if another one has ended just now
	 */
	long turnIfDue() {
		long now = this.nanos.getAsLong();
		long end = this.end.get();
		if (now - end < 0) {
			return end - now;
		}
		if (this.end.compareAndSet(end, now + INTERVAL_NANOS)) {
			turn(now - end + INTERVAL_NANOS);
		}
		return 0;
	}

	/**
	 * A new interval begins. Only one thread gets here, and rarely.
	 * @param length of the one that is over, which is longer than meant if nobody came by
	 */
	private synchronized void turn(long length) {
		// Half of what makes a counter hot, and a candidate, as rates.
		double calm = this.enough / 2.0 * SECOND_NANOS / INTERVAL_NANOS;
		double least = this.bar / 2.0 / this.life * SECOND_NANOS / INTERVAL_NANOS;
		this.known.values().forEach((candidate) -> {
			candidate.turn(length, calm);
			if (!candidate.isHot() && !candidate.isNew() && candidate.perSecond() < least) {
				this.known.remove(candidate.counter());
			}
		});
		boolean replaced = this.age >= this.life;
		if (replaced) {
			Sketch seen = this.sketch;
			this.spare.clear();
			this.sketch = this.spare;
			this.spare = seen;
		}
		this.age = replaced ? 1 : this.age + 1;
		double share = share();
		this.life = life(share);
		this.enough = enough(share);
		this.bar = bar(lowestBar(share));
	}

	private int bar(int lowest) {
		if (this.crowded) {
			this.crowded = false;
			// What comes so often while the sketch counts is hot.
			return Math.max(lowest, Math.min(2 * this.bar, this.life * this.enough));
		}
		return Math.max(lowest, (this.known.size() < MAX_CANDIDATES / 8) ? this.bar / 2 : this.bar);
	}

	/** This instance's part of the threshold in an interval. */
	private double share() {
		return (double) this.threshold / this.instances.getAsInt() * INTERVAL_NANOS / SECOND_NANOS;
	}

	/**
	 * What this instance must see in an interval: its share, and so much that a counter
	 * at half of the threshold does not get there by chance. With a share of 8, one at
	 * 0.4 times the threshold has 8 checks in every sixtieth interval. An instance alone
	 * sees everything, so its share is enough.
	 */
	private int enough(double share) {
		double chance = (this.instances.getAsInt() > 1) ? share / 2 + DEVIATIONS * Math.sqrt(share / 2) : 0;
		return (int) Math.min(Integer.MAX_VALUE / LONG_LIFE,
				Math.ceil(Math.max(LEAST_ENOUGH, Math.max(share, chance))));
	}

	private static int life(double share) {
		return (share < LEAST_BAR * FRACTION) ? LONG_LIFE : 1;
	}

	private static int lowestBar(double share) {
		return (int) Math.min(Integer.MAX_VALUE / LONG_LIFE, Math.max(LEAST_BAR, life(share) * share / FRACTION));
	}

}
