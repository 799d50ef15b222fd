package dev.ratelimit.hot;

import dev.ratelimit.counter.Counter;

/**
 * A counter that is worth an eye: how often it was asked for in each of the last
 * intervals, and whether it is hot. Written by one thread at a time.
 */
final class Candidate {

	/** Intervals in a second. */
	private static final int MEMORY = 4;

	/** Intervals of calm after which a counter is no longer hot. */
	private static final int CALM_INTERVALS = 4;

	private final Counter counter;

	private final long[] rates = new long[MEMORY];

	private int intervals;

	private int calmFor;

	private volatile boolean hot;

	/** By the fleet's count or an operator's mark, so that it cannot cool down here. */
	private volatile boolean held;

	/**
	 * Creates one that was not known.
	 * @param hot whether it is hot
	 * @param held whether it is so by what others say
	 */
	Candidate(Counter counter, boolean hot, boolean held) {
		this.counter = counter;
		this.hot = hot;
		this.held = held;
	}

	Counter counter() {
		return this.counter;
	}

	boolean isHot() {
		return this.hot;
	}

	void promote() {
		this.hot = true;
	}

	/**
	 * What others say of it.
	 * @param hot whether it is hot by that
	 * @param held whether it stays hot by that if it is
	 */
	void told(boolean hot, boolean held) {
		this.held = held;
		if (hot) {
			this.hot = true;
		}
	}

	/**
	 * An interval is over.
	 * @param perSecond how often it came by, as a rate
	 * @param calm whether that is little
	 */
	void saw(long perSecond, boolean calm) {
		this.rates[this.intervals++ % MEMORY] = perSecond;
		this.calmFor = (calm && !this.held) ? this.calmFor + 1 : 0;
		if (this.calmFor >= CALM_INTERVALS) {
			this.hot = false;
		}
	}

	/**
	 * Its rate over the last second, or as long as it is known.
	 */
	long perSecond() {
		int known = Math.min(this.intervals, MEMORY);
		long sum = 0;
		for (int i = 0; i < known; i++) {
			sum += this.rates[i];
		}
		return (known > 0) ? sum / known : 0;
	}

}
