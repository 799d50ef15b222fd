package dev.ratelimit.algorithm;

import java.util.ArrayList;
import java.util.List;

/**
 * All that can be told about a counter at a time, whatever its state looks like inside.
 *
 * @param quotas what is known of each quota, in their order
 */
record Observed(List<PerQuota> quotas) {

	/**
	 * One quota.
	 *
	 * @param remaining permits left
	 * @param next microseconds until there is one more
	 * @param half microseconds until half of what is missing is back
	 * @param reset microseconds until it is full
	 */
	record PerQuota(long remaining, long next, long half, long reset) {
	}

	static Observed of(Counting counting, long now) {
		List<PerQuota> quotas = new ArrayList<>();
		for (int quota = 0; quota < counting.paces.length; quota++) {
			quotas.add(of(counting, quota, now));
		}
		return new Observed(quotas);
	}

	static PerQuota of(Counting counting, int quota, long now) {
		long burst = counting.paces[quota].burst;
		long remaining = counting.remaining(quota, now);
		long next = Math.min(remaining + 1, burst);
		long half = remaining + (burst - remaining) / 2;
		return new PerQuota(remaining, counting.waitFor(quota, now, next), counting.waitFor(quota, now, half),
				counting.resetAfter(quota, now));
	}

}
