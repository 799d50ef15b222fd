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
 * balancer is. Where the balancer is uneven no instance may see its share; so those that
 * are asked for a fraction of it are candidates, whose rates the instances add up every
 * second, and what is hot by the sum is hot for all. A counter stays hot until it was
 * below half of the threshold for a second, by this instance's count and by the fleet's,
 * so that one around the threshold does not go to and fro.
 *
 * <p>
 * A check costs a place in a {@link Sketch} and a look at the few that are known. There
 * is room for a fixed number of candidates; where more apply the bar is raised, so that
 * it is the busiest that are kept.
 */
public final class HotCounters implements Predicate<Counter>, HotList {

	private static final long INTERVAL_NANOS = Duration.ofMillis(250).toNanos();

	private static final long SECOND_NANOS = Duration.ofSeconds(1).toNanos();

	/** What all instances leave out is at most this part of the threshold. */
	private static final int FRACTION = 16;

	private static final int MAX_CANDIDATES = 512;

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

	private volatile Sketch sketch = new Sketch();

	private Sketch spare = new Sketch();

	/** Checks of an interval that make a counter hot for this instance. */
	private volatile long share;

	/** Checks of an interval that make a counter a candidate. */
	private volatile long bar;

	private volatile boolean crowded;

	private volatile Wanted wanted = Wanted.NONE;

	private volatile List<HotCounter> top = List.of();

	/**
	 * Creates an empty set.
	 * @param threshold checks per second over the fleet that make a counter hot
	 * @param maximum how many there can be
	 * @param instances how many share the traffic
	 * @param nanos a monotonic clock
	 */
	public HotCounters(long threshold, int maximum, IntSupplier instances, LongSupplier nanos) {
		if (threshold < 1) {
			throw new IllegalArgumentException("a threshold is at least 1 check per second but was " + threshold);
		}
		this.threshold = threshold;
		this.maximum = maximum;
		this.instances = instances;
		this.nanos = nanos;
		this.share = share();
		this.bar = lowestBar();
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
		int count = this.sketch.add(counter.hashCode());
		if ((count & CLOCK_MASK) == 0) {
			turnIfDue();
		}
		Candidate candidate = this.known.isEmpty() ? null : this.known.get(counter);
		if (candidate == null) {
			return (count >= this.bar || this.wanted.contains(counter)) && admit(counter, count);
		}
		if (!candidate.isHot() && count >= this.share) {
			candidate.promote();
		}
		return candidate.isHot();
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
			.map((candidate) -> new HotKey(CounterName.of(candidate.counter()), candidate.perSecond()))
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
			String key = candidate.counter().key();
			long rate = rates.getOrDefault(key, 0L);
			boolean isMarked = marked.contains(key);
			candidate.told(isMarked || rate >= this.threshold, isMarked || 2 * rate >= this.threshold);
			if (candidate.isHot()) {
				hot.add(key);
			}
		}
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

	/** A counter that nobody knew until now. */
	private boolean admit(Counter counter, int count) {
		boolean held = this.wanted.contains(counter);
		boolean hot = held || count >= this.share;
		if (this.known.size() >= (hot ? this.maximum : Math.min(MAX_CANDIDATES, this.maximum))) {
			this.crowded = true;
			return false;
		}
		Candidate candidate = new Candidate(counter, hot, held);
		@Nullable Candidate other = this.known.putIfAbsent(counter, candidate);
		return (other != null) ? other.isHot() : hot;
	}

	/**
	 * Begins a new interval if it is time. Also to be called every now and then by
	 * somebody who comes even if no check does.
	 */
	void turnIfDue() {
		long now = this.nanos.getAsLong();
		long end = this.end.get();
		if (now - end >= 0 && this.end.compareAndSet(end, now + INTERVAL_NANOS)) {
			turn(now - end + INTERVAL_NANOS);
		}
	}

	/**
	 * A new interval begins. Only one thread gets here, and rarely.
	 * @param length of the one that is over, which is longer than meant if nobody came by
	 */
	private synchronized void turn(long length) {
		Sketch seen = this.sketch;
		this.spare.clear();
		this.sketch = this.spare;
		this.spare = seen;
		long bar = this.bar;
		long calm = this.share / 2;
		this.known.values().forEach((candidate) -> {
			long count = seen.count(candidate.counter().hashCode()) * INTERVAL_NANOS / length;
			candidate.saw(count * SECOND_NANOS / INTERVAL_NANOS, count < calm);
			if (!candidate.isHot() && candidate.perSecond() * INTERVAL_NANOS < bar * SECOND_NANOS / 2) {
				this.known.remove(candidate.counter());
			}
		});
		this.share = share();
		if (this.crowded) {
			this.crowded = false;
			this.bar = Math.min(2 * bar, this.share);
		}
		else {
			this.bar = Math.max(lowestBar(), (this.known.size() < MAX_CANDIDATES / 8) ? bar / 2 : bar);
		}
	}

	private long share() {
		return Math.max(1, this.threshold / this.instances.getAsInt() * INTERVAL_NANOS / SECOND_NANOS);
	}

	private long lowestBar() {
		return Math.max(1, this.share / FRACTION);
	}

}
