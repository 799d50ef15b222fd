package dev.ratelimit.algorithm;

import java.util.Arrays;
import java.util.List;

/**
 * A log with one entry per admitted request, shared by all quotas of a limit: the time,
 * the permits admitted before it, and its own permits. Entries carry a running total, so
 * the usage of a window is one subtraction after a binary search, in a log of any length.
 * Requests of the same microsecond share one entry.
 */
final class SlidingWindowLog implements Formula {

	static final Formula INSTANCE = new SlidingWindowLog();

	/**
	 * A give-back rewrites all later entries. An entry with more than 400 later ones is
	 * not given back; it leaves with its window.
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
		// The clock was set back: all future entries count as admitted now.
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
		long given = returnable(log, paces, now, since, permits);
		if (given == 0) {
			return log;
		}
		int entry = firstAfter(log, since - 1);
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
	public long returnable(long[] log, Pace[] paces, long now, long since, long permits) {
		int entry = firstAfter(log, since - 1);
		int behind = (log.length - entry) / WIDTH - 1;
		return (behind < 0 || behind > DEEPEST_GIVE_BACK || log[entry + TIME] != since) ? 0
				: Math.min(permits, log[entry + COST]);
	}

	/** Quotas share the entries, so all of them take the same. */
	@Override
	public long[] charge(long[] log, Pace[] paces, long now, long permits) {
		long charged = chargeable(log, paces, now, permits);
		return (charged > 0) ? take(log, paces, now, charged) : log;
	}

	@Override
	public long chargeable(long[] log, Pace[] paces, long now, long permits) {
		long largest = 0;
		long used = 0;
		for (Pace pace : paces) {
			largest = Math.max(largest, pace.permits);
			used = Math.max(used, used(log, pace, now));
		}
		return Math.max(0, Math.min(permits, 2 * largest - used));
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
	 * Offset of the first entry that a live quota still needs. A window does not need an
	 * entry that is older than the window, nor an entry after which at least the largest
	 * quota's permits were admitted and can no longer be given back.
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
	 * Offset of the first entry after a time; the log's length if there is none.
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

	/** Offset of the first entry at which the running total reaches a number. */
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
