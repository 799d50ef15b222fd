package dev.ratelimit;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A named set of limits with an algorithm.
 *
 * @param id as named by routes, annotations and requests
 * @param version 0 for one that comes with the configuration
 * @param algorithm how all its counters count
 * @param limits at least one; a request has to pass all of them
 */
public record Policy(String id, long version, Algorithm algorithm, List<Limit> limits) {

	/** More than this per request is no longer a check that costs next to nothing. */
	public static final int MAX_LIMITS = 16;

	/** One log entry per request is kept, so a log is bounded by its permits. */
	public static final long MAX_LOG_PERMITS = 10_000;

	private static final Pattern ID = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

	public Policy {
		limits = List.copyOf(limits);
		if (!ID.matcher(id).matches()) {
			throw new IllegalArgumentException(
					"policy '" + id + "': an id is 1 to 63 lower-case letters, digits, dots, dashes and underscores");
		}
		if (limits.isEmpty() || limits.size() > MAX_LIMITS) {
			throw new IllegalArgumentException(
					"policy '" + id + "': needs 1 to " + MAX_LIMITS + " limits but has " + limits.size());
		}
		Set<String> names = new HashSet<>();
		for (Limit limit : limits) {
			if (!names.add(limit.name())) {
				throw new IllegalArgumentException("policy '" + id + "': has two limits named '" + limit.name() + "'");
			}
			requireFits(id, algorithm, limit);
		}
	}

	public static Policy of(String id, Algorithm algorithm, Limit... limits) {
		return new Policy(id, 0, algorithm, new ArrayList<>(List.of(limits)));
	}

	private static void requireFits(String id, Algorithm algorithm, Limit limit) {
		for (Quota quota : limit.quotas()) {
			String where = "policy '" + id + "', limit '" + limit.name() + "', quota '" + quota + "': ";
			if (!algorithm.hasBurst() && quota.burst() != quota.permits()) {
				throw new IllegalArgumentException(
						where + algorithm.text() + " has no burst, remove it or use gcra or token-bucket");
			}
			if (algorithm == Algorithm.SLIDING_WINDOW_LOG && quota.permits() > MAX_LOG_PERMITS) {
				throw new IllegalArgumentException(where + "a sliding-window-log keeps an entry per request, at most "
						+ MAX_LOG_PERMITS + " permits; use gcra or sliding-window-counter");
			}
		}
	}

}
