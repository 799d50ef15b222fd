package dev.ratelimit.benchmarks.capacity;

/**
 * What Redis has to do for one limit whose callers send by Zipf's law.
 *
 * @param checks per second that are decided by Redis one by one
 * @param leases calls per second that take permits ahead
 * @param hottest checks per second of the busiest counter, however they are decided
 */
record CentralLoad(double checks, double leases, double hottest) {

	/**
	 * Counters above the threshold are leased by every instance.
	 * @param threshold checks per second
	 * @param leasesEach lease calls per second for each such counter
	 */
	static CentralLoad of(double rate, int counters, double skew, double threshold, double leasesEach) {
		double sum = sum(counters, skew);
		double leased = 0;
		int hot = 0;
		for (double each = rate / sum; hot < counters
				&& each > threshold; each = rate / sum * Math.pow(hot + 1, -skew)) {
			leased += each;
			hot++;
		}
		return new CentralLoad(rate - leased, hot * leasesEach, rate / sum);
	}

	private static double sum(int counters, double skew) {
		double sum = 0;
		// From the smallest, for the last digits.
		for (int rank = counters; rank >= 1; rank--) {
			sum += Math.pow(rank, -skew);
		}
		return sum;
	}

}
