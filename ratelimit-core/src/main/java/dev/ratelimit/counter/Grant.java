package dev.ratelimit.counter;

import java.util.ArrayList;
import java.util.List;

import dev.ratelimit.LimitStatus;

/**
 * What was taken from a set of counters.
 *
 * @param wanted what was asked for
 * @param permits taken from each of the counters; 0 if it was refused or only looked at
 * @param readings the counters afterwards
 */
public record Grant(Permits wanted, long permits, List<Reading> readings) {

	public boolean refused() {
		return this.permits < this.wanted.least();
	}

	/**
	 * What the readings mean, for each quota of each counter.
	 */
	public List<LimitStatus> statuses() {
		List<LimitStatus> statuses = new ArrayList<>(this.readings.size() * 2);
		for (Reading reading : this.readings) {
			reading.describe(this.wanted.least(), this.permits, statuses);
		}
		return statuses;
	}

}
