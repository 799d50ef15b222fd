package dev.ratelimit.policy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.ratelimit.Quota;
import dev.ratelimit.algorithm.LiveWindow;

/**
 * The slowest and the largest quota per window that records give callers of one limit.
 * Records are added and removed one by one; each change takes O(log n) time, also with
 * 100,000 records.
 */
final class RecordedQuotas {

	private final Map<Long, Sizes> byWindow = new HashMap<>();

	private List<LiveWindow> windows = List.of();

	List<LiveWindow> windows() {
		return this.windows;
	}

	/**
	 * Adds or removes a quota.
	 * @param times 1 to add it, -1 to remove it
	 * @return whether the windows changed
	 */
	boolean count(Quota quota, int times) {
		LiveWindow window = LiveWindow.of(quota);
		Sizes sizes = this.byWindow.computeIfAbsent(window.micros(), (micros) -> new Sizes());
		count(sizes.fills, window.longestFill(), times);
		count(sizes.permits, window.mostPermits(), times);
		if (sizes.fills.isEmpty()) {
			this.byWindow.remove(window.micros());
		}
		List<LiveWindow> fresh = this.byWindow.entrySet()
			.stream()
			.map((entry) -> entry.getValue().window(entry.getKey()))
			.toList();
		boolean changed = !fresh.equals(this.windows);
		this.windows = fresh;
		return changed;
	}

	private static void count(TreeMap<Long, Integer> sizes, long size, int times) {
		sizes.merge(size, times, (known, more) -> (known + more > 0) ? known + more : null);
	}

	private static final class Sizes {

		private final TreeMap<Long, Integer> fills = new TreeMap<>();

		private final TreeMap<Long, Integer> permits = new TreeMap<>();

		LiveWindow window(long micros) {
			return new LiveWindow(micros, this.fills.lastKey(), this.permits.lastKey());
		}

	}

}
