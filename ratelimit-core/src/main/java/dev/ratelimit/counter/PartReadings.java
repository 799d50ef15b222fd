package dev.ratelimit.counter;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;

/**
 * Readings of parts of one counter, told as of the whole one. What the parts have left is
 * added up, and where some were not read they are taken to be like the others. A request
 * that no part had room for may come again when the first of them has.
 */
record PartReadings(List<Reading> readings) {

	void describe(long least, long granted, List<LimitStatus> statuses) {
		CounterSpec whole = Objects.requireNonNull(this.readings.get(0).counter().spec().whole());
		List<List<LimitStatus>> parts = new ArrayList<>(this.readings.size());
		for (Reading reading : this.readings) {
			List<LimitStatus> part = new ArrayList<>(whole.limit().quotas().size());
			reading.describe(least, granted, part);
			parts.add(part);
		}
		List<LimitStatus> soonest = soonest(parts);
		for (int i = 0; i < whole.limit().quotas().size(); i++) {
			Quota quota = whole.limit().quotas().get(i);
			long remaining = 0;
			long burst = 0;
			long reset = 0;
			long next = 0;
			for (List<LimitStatus> part : parts) {
				LimitStatus status = part.get(i);
				remaining += status.remaining();
				burst += status.quota().burst();
				reset = Math.max(reset, status.resetAfterMicros());
				next = (next == 0) ? status.nextAfterMicros()
						: (status.nextAfterMicros() == 0) ? next : Math.min(next, status.nextAfterMicros());
			}
			statuses.add(new LimitStatus(whole.limit(), quota, remaining * quota.burst() / burst, reset,
					soonest.get(i).retryAfterMicros(), next));
		}
	}

	/** The part whose longest wait is the shortest. */
	private static List<LimitStatus> soonest(List<List<LimitStatus>> parts) {
		List<LimitStatus> soonest = parts.get(0);
		for (List<LimitStatus> part : parts) {
			soonest = (longestWait(part) < longestWait(soonest)) ? part : soonest;
		}
		return soonest;
	}

	private static long longestWait(List<LimitStatus> part) {
		long longest = 0;
		for (LimitStatus status : part) {
			longest = status.neverFits() ? Long.MAX_VALUE : Math.max(longest, status.retryAfterMicros());
			if (longest == Long.MAX_VALUE) {
				return longest;
			}
		}
		return longest;
	}

}
