package dev.ratelimit;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Three-digit number of a window in the stored state of a counter. A quota finds its own
 * state by this tag. The tag depends only on the length of the window, so callers with
 * different quotas, and different versions of a policy, use the same tag.
 *
 * <p>
 * Windows of 1 to 99 seconds, minutes, hours or days each have a tag of their own. All
 * other windows share the tags from 400, so two of them can have the same tag; a limit
 * must not have both.
 */
public final class WindowTag {

	/** Most different windows that the callers of one limit may have. */
	public static final int MAX_WINDOWS = 9;

	/**
	 * A prime, so that windows that are multiples of one step (10, 20, 30 minutes)
	 * differ.
	 */
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
	 * @param limit name of the limit, for the message
	 * @param windows windows of all callers: of the default, tiers, overrides and
	 * versions
	 * @throws IllegalArgumentException if they do not fit; the message names the windows
	 * and the fix
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
						+ Quota.text(window) + " cannot share a counter, make one of them a second longer");
			}
		}
	}

	private static String text(Collection<Duration> windows) {
		return windows.stream().map(Quota::text).collect(Collectors.joining(", "));
	}

}
