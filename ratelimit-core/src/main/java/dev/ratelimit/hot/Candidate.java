package dev.ratelimit.hot;

import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;

/**
 * A counter that is watched: how often requests asked for it in each of the last
 * intervals, and whether it is hot. All threads count; the rest is written by one at a
 * time. Two threads that count at the same moment may count once.
 */
final class Candidate {

	/** Intervals in a second. */
	private static final int MEMORY = 4;

	/** Calm after which a counter is no longer hot. */
	private static final long CALM_NANOS = HotCounters.SECOND_NANOS;

	private final Counter counter;

	private @Nullable CounterName name;

	private final long[] counts = new long[MEMORY];

	private final long[] lengths = new long[MEMORY];

	private int intervals;

	private long calmNanos;

	/** Checks since it is known. Never set back: a thread could write an old one. */
	private final AtomicInteger count;

	/** Of these, the ones before this interval. */
	private volatile int earlier;

	private volatile boolean hot;

	/** By the fleet's count or an operator's mark, so that it cannot cool down here. */
	private volatile boolean held;

	/**
	 * @param count requests for it in this interval
	 * @param hot whether it is hot
	 * @param held whether the fleet or a mark keeps it hot
	 */
	Candidate(Counter counter, int count, boolean hot, boolean held) {
		this.counter = counter;
		this.count = new AtomicInteger(count);
		this.hot = hot;
		this.held = held;
	}

	Counter counter() {
		return this.counter;
	}

	/**
	 * Its name in the fleet. Parts use the name of the whole counter, so their rates add
	 * up.
	 */
	CounterName name() {
		CounterName name = this.name;
		if (name == null) {
			name = CounterName.of(this.counter.whole());
			this.name = name;
		}
		return name;
	}

	boolean isHot() {
		return this.hot;
	}

	void promote() {
		this.hot = true;
	}

	/**
	 * Takes over the fleet's view.
	 * @param hot whether the counter is hot in the fleet
	 * @param held whether the fleet keeps it hot once it is
	 */
	void learn(boolean hot, boolean held) {
		this.held = held;
		if (hot) {
			this.hot = true;
		}
	}

	/**
	 * Counts a check.
	 * @return the number of checks in this interval
	 */
	int count() {
		int count = this.count.getOpaque() + 1;
		this.count.setOpaque(count);
		return count - this.earlier;
	}

	/**
	 * Ends an interval.
	 * @param length its length in nanoseconds
	 * @param calm the rate below which a counter is calm
	 */
	void turn(long length, double calm) {
		int count = this.count.getOpaque();
		int seen = Math.max(0, count - this.earlier);
		this.earlier = count;
		this.counts[this.intervals % MEMORY] = seen;
		this.lengths[this.intervals % MEMORY] = length;
		this.intervals = (this.intervals + 1 < 2 * MEMORY) ? this.intervals + 1 : MEMORY;
		// Judged by the last second: a few more checks in one interval are chance.
		this.calmNanos = (perSecond() < calm && !this.held) ? this.calmNanos + length : 0;
		if (this.calmNanos >= CALM_NANOS) {
			this.hot = false;
		}
	}

	/**
	 * Whether it has been watched for too short a time to call it rare.
	 */
	boolean isNew() {
		return this.intervals < MEMORY;
	}

	/**
	 * Its rate over the last second, or since it is watched. Rounded to the nearest
	 * integer, because a fleet adds up thousands of small rates.
	 */
	long perSecond() {
		long count = 0;
		long length = 0;
		for (int i = 0; i < MEMORY; i++) {
			count += this.counts[i];
			length += this.lengths[i];
		}
		return (length > 0) ? Math.round((double) count * HotCounters.SECOND_NANOS / length) : 0;
	}

}
