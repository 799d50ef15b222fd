package dev.ratelimit;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Three digits that name a window in the stored state of a counter, so that a quota finds
 * its state among those of other quotas. They depend on the length of the window alone:
 * callers with different quotas on one counter, and versions of a policy, then agree.
 *
 * <p>
 * 1 to 99 of seconds, minutes, hours or days have a tag of their own; all other windows
 * share the range from 400. So two windows can have one tag, and a limit must not have
 * both.
 */
public final class WindowTag {

	/** How many different windows the callers of one limit have at most. */
	public static final int MAX_WINDOWS = 9;

	/** A prime, so that windows of one step, such as tens of minutes, differ. */
	private static final long OTHERS = 599;

	private static final long[] UNITS = { 1, 60, 3_600, 86_400 };

	private WindowTag() {
	}

	public static int of(Duration window) {
		long seconds = window.toSeconds();
		for (int unit = UNITS.length - 1; unit >= 0; unit--) {
			long count = seconds / UNITS[unit];
			if (seconds % UNITS[unit] == 0 && count >= 1 && count <= 99) {
				return (int) (unit * 100 + count);
			}
		}
		return (int) (400 + seconds % OTHERS);
	}

	/**
	 * Checks that one counter can keep all these windows.
	 * @param limit whose they are, for the message
	 * @param windows of all callers: the default, tiers, overrides and versions
	 * @throws IllegalArgumentException naming the windows that do not fit, and the fix
	 */
	public static void requireDistinct(String limit, Collection<Duration> windows) {
		TreeSet<Duration> different = new TreeSet<>(windows);
		if (different.size() > MAX_WINDOWS) {
			throw new IllegalArgumentException("limit '" + limit + "': its quotas, tiers and overrides have "
					+ different.size() + " different windows (" + text(different) + "), use at most " + MAX_WINDOWS);
		}
		Map<Integer, Duration> tags = new HashMap<>();
		for (Duration window : different) {
			Duration other = tags.putIfAbsent(of(window), window);
			if (other != null) {
				throw new IllegalArgumentException("limit '" + limit + "': the windows " + Quota.text(other) + " and "
						+ Quota.text(window) + " cannot be told apart in one counter, change one of them by a second");
			}
		}
	}

	private static String text(Collection<Duration> windows) {
		return windows.stream().map(Quota::text).collect(Collectors.joining(", "));
	}

}
