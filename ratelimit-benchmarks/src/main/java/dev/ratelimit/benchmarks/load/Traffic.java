package dev.ratelimit.benchmarks.load;

import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

/**
 * What callers do: a fixed number of requests per second at equal distances. Some keys
 * are hot and send at a rate of their own, which is how a caller goes over its limit; the
 * others share the rest by Zipf's law. Key, cost and time of every request follow from
 * the seed.
 *
 * @param seed of everything that is drawn
 * @param rate requests per second, of all keys together
 * @param keys how many callers there are
 * @param skew exponent of Zipf's law
 * @param hotKeys the first keys, each with a rate of its own; 0 for none
 * @param hotRate requests per second of each of them
 * @param costlyShare share of the requests that cost more than one permit
 */
public record Traffic(long seed, double rate, int keys, double skew, int hotKeys, double hotRate, double costlyShare) {

	/** The highest number of callers; all have addresses of their own. */
	public static final int MAX_KEYS = 5_000_000;

	/** The lowest cost of a costly request. */
	public static final int MIN_COST = 5;

	/** The highest cost of a request. */
	public static final int MAX_COST = 50;

	public Traffic {
		if (keys < 1 || keys > MAX_KEYS) {
			throw new IllegalArgumentException("keys must be between 1 and " + MAX_KEYS + " but was " + keys);
		}
		if (!(rate > 0)) {
			throw new IllegalArgumentException("rate must be above 0 but was " + rate);
		}
		if (hotKeys < 0 || hotKeys > keys) {
			throw new IllegalArgumentException("hot keys must be between 0 and the number of keys but was " + hotKeys);
		}
		if (hotKeys * hotRate > rate) {
			throw new IllegalArgumentException(
					hotKeys + " hot keys with " + hotRate + "/s each send more than the rate of " + rate + "/s");
		}
		if (costlyShare < 0 || costlyShare > 1) {
			throw new IllegalArgumentException("share of costly requests must be between 0 and 1");
		}
	}

	/** The schedule of a run; each call makes the same one. */
	public Arrivals arrivals(long nanos) {
		return new Schedule((long) (this.rate * nanos / 1e9));
	}

	private final class Schedule implements Arrivals {

		private final SplittableRandom random = new SplittableRandom(Traffic.this.seed);

		private final double hotShare = Traffic.this.hotKeys * Traffic.this.hotRate / Traffic.this.rate;

		/** Of the keys that are not hot; of all if there is no other. */
		private final Zipf others = new Zipf(Math.max(1, Traffic.this.keys - Traffic.this.hotKeys), Traffic.this.skew);

		private final long requests;

		private long number;

		/** Requests of hot keys that are owed, so that each has exactly its rate. */
		private double owed;

		private int nextHot;

		Schedule(long requests) {
			this.requests = requests;
		}

		@Override
		public @Nullable Arrival next() {
			if (this.number == this.requests) {
				return null;
			}
			long due = (long) (this.number++ * 1e9 / Traffic.this.rate);
			return new Arrival(due, key(), cost());
		}

		private int key() {
			this.owed += this.hotShare;
			if (this.owed >= 1 || Traffic.this.hotKeys == Traffic.this.keys) {
				this.owed--;
				int hot = this.nextHot;
				this.nextHot = (hot + 1 == Traffic.this.hotKeys) ? 0 : hot + 1;
				return hot;
			}
			return Traffic.this.hotKeys + this.others.next(this.random);
		}

		private int cost() {
			return (Traffic.this.costlyShare > 0 && this.random.nextDouble() < Traffic.this.costlyShare)
					? this.random.nextInt(MIN_COST, MAX_COST + 1) : 1;
		}

	}

}
