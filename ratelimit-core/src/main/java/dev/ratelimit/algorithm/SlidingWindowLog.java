package dev.ratelimit.algorithm;

import java.util.Arrays;
import java.util.List;

/**
 * One entry per admitted request, shared by all quotas of a limit: its time, the permits
 * admitted before it and its own. Because entries carry a running total, what a window
 * holds is one subtraction after a binary search, however long the log is. No two entries
 * have the same time; requests of one microsecond share one.
 */
final class SlidingWindowLog implements Formula {

	static final Formula INSTANCE = new SlidingWindowLog();

	/**
	 * Entries behind a given-back one are rewritten; one that lies deeper is left to its
	 * window.
	 */
	static final int DEEPEST_GIVE_BACK = 400;

	private static final int WIDTH = 3;

	private static final int TIME = 0;

	private static final int BEFORE = 1;

	private static final int COST = 2;

	private SlidingWindowLog() {
	}

	@Override
	public long[] settle(long[] log, Pace[] paces, long now) {
		if (!outruns(log, paces, now)) {
			return log;
		}
		// The clock was set back: all that lies ahead counts as admitted now.
		int from = firstAfter(log, now - 1);
		long[] settled = Arrays.copyOf(log, from + WIDTH);
		settled[from + TIME] = now;
		settled[from + COST] = total(log) - log[from + BEFORE];
		return settled;
	}

	@Override
	public boolean outruns(long[] log, Pace[] paces, long now) {
		return log.length > 0 && log[log.length - WIDTH + TIME] > now;
	}

	@Override
	public long available(long[] log, Pace[] paces, long now) {
		long available = Long.MAX_VALUE;
		for (int quota = 0; quota < paces.length; quota++) {
			available = Math.min(available, remaining(log, paces, quota, now));
		}
		return available;
	}

	@Override
	public long[] take(long[] log, Pace[] paces, long now, long permits) {
		int from = firstNeeded(log, paces[0].live, now);
		boolean sameTime = log.length > 0 && log[log.length - WIDTH + TIME] == now;
		long[] taken = Arrays.copyOfRange(log, from, sameTime ? log.length : log.length + WIDTH);
		int last = taken.length - WIDTH;
		if (!sameTime) {
			taken[last + TIME] = now;
			taken[last + BEFORE] = total(log);
		}
		taken[last + COST] += permits;
		return taken;
	}

	@Override
	public long[] giveBack(long[] log, Pace[] paces, long now, long since, long permits) {
		int entry = firstAfter(log, since - 1);
		int behind = (log.length - entry) / WIDTH - 1;
		if (behind < 0 || behind > DEEPEST_GIVE_BACK || log[entry + TIME] != since) {
			return log;
		}
		long given = Math.min(permits, log[entry + COST]);
		boolean gone = given == log[entry + COST];
		long[] rewritten = gone ? without(log, entry) : log.clone();
		if (!gone) {
			rewritten[entry + COST] -= given;
		}
		for (int later = gone ? entry : entry + WIDTH; later < rewritten.length; later += WIDTH) {
			rewritten[later + BEFORE] -= given;
		}
		return rewritten;
	}

	@Override
	public long remaining(long[] log, Pace[] paces, int quota, long now) {
		return Math.max(0, paces[quota].permits - used(log, paces[quota], now));
	}

	@Override
	public long wait(long[] log, Pace[] paces, int quota, long now, long permits) {
		Pace pace = paces[quota];
		long excess = used(log, pace, now) + permits - pace.permits;
		if (excess <= 0) {
			return 0;
		}
		int oldest = firstAfter(log, now - pace.window);
		int leaving = firstReaching(log, log[oldest + BEFORE] + excess);
		return log[leaving + TIME] + pace.window - now;
	}

	@Override
	public long resetAfter(long[] log, Pace[] paces, int quota, long now) {
		return (used(log, paces[quota], now) == 0) ? 0 : log[log.length - WIDTH + TIME] + paces[quota].window - now;
	}

	/**
	 * Offset of the first entry that somebody can still need. For a window an entry is
	 * needed unless it is outside, or as many permits as any caller has in the window
	 * were admitted after it, and can no longer be given back.
	 */
	private static int firstNeeded(long[] log, List<LiveWindow> live, long now) {
		int first = log.length;
		int settled = log.length - (DEEPEST_GIVE_BACK + 1) * WIDTH;
		for (LiveWindow window : live) {
			int needed = firstAfter(log, now - window.micros());
			if (settled > needed) {
				needed = Math.max(needed, firstReaching(log, log[settled + BEFORE] - window.mostPermits() + 1));
			}
			first = Math.min(first, needed);
		}
		return first;
	}

	private static long used(long[] log, Pace pace, long now) {
		int oldest = firstAfter(log, now - pace.window);
		return (oldest == log.length) ? 0 : total(log) - log[oldest + BEFORE];
	}

	private static long total(long[] log) {
		return (log.length == 0) ? 0 : log[log.length - WIDTH + BEFORE] + log[log.length - WIDTH + COST];
	}

	private static long[] without(long[] log, int entry) {
		long[] shorter = Arrays.copyOf(log, log.length - WIDTH);
		System.arraycopy(log, entry + WIDTH, shorter, entry, shorter.length - entry);
		return shorter;
	}

	/**
	 * Offset of the first entry that is later than a time, the log's length if there is
	 * none.
	 */
	private static int firstAfter(long[] log, long time) {
		int low = 0;
		int high = log.length / WIDTH;
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (log[middle * WIDTH + TIME] > time) {
				high = middle;
			}
			else {
				low = middle + 1;
			}
		}
		return low * WIDTH;
	}

	/** Offset of the first entry with which the running total reaches a number. */
	private static int firstReaching(long[] log, long total) {
		int low = 0;
		int high = log.length / WIDTH - 1;
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (log[middle * WIDTH + BEFORE] + log[middle * WIDTH + COST] >= total) {
				high = middle;
			}
			else {
				low = middle + 1;
			}
		}
		return low * WIDTH;
	}

}
