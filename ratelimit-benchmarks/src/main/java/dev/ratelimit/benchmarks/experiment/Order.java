package dev.ratelimit.benchmarks.experiment;

import dev.ratelimit.benchmarks.load.Arrivals;
import dev.ratelimit.benchmarks.load.Traffic;

/**
 * What an instance is to send to itself: some callers above their limit, some below, and
 * others by Zipf's law.
 *
 * @param seed of the others
 * @param seconds how long
 * @param over callers above their limit, the first keys
 * @param overRate checks per second of each of them at this instance
 * @param within callers within their limit, the next keys
 * @param withinRate checks per second of each of them at this instance
 * @param othersRate checks per second of all others together, 0 for none
 * @param others how many others there are
 * @param startMillis when to begin, in milliseconds since 1970: the same for all
 * instances
 */
record Order(long seed, int seconds, int over, double overRate, int within, double withinRate, double othersRate,
		int others, long startMillis) {

	private static final double SKEW = 1.2;

	int tracked() {
		return this.over + this.within;
	}

	int keys() {
		return tracked() + this.others;
	}

	/** Checks per second of all together. */
	double rate() {
		return this.over * this.overRate + this.within * this.withinRate + this.othersRate;
	}

	Order startingAt(long millis) {
		return new Order(this.seed, this.seconds, this.over, this.overRate, this.within, this.withinRate,
				this.othersRate, this.others, millis);
	}

	Arrivals arrivals() {
		long nanos = this.seconds * 1_000_000_000L;
		Arrivals all = () -> null;
		if (this.over > 0) {
			all = Arrivals.merged(all, even(this.over, this.overRate).arrivals(nanos));
		}
		if (this.within > 0) {
			all = Arrivals.merged(all, even(this.within, this.withinRate).arrivals(nanos).shifted(this.over));
		}
		if (this.othersRate > 0) {
			all = Arrivals.merged(all,
					new Traffic(this.seed, this.othersRate, this.others, SKEW, 0, 0, 0).arrivals(nanos)
						.shifted(tracked()));
		}
		return all;
	}

	private Traffic even(int keys, double rate) {
		return new Traffic(this.seed, keys * rate, keys, SKEW, keys, rate, 0);
	}

}
