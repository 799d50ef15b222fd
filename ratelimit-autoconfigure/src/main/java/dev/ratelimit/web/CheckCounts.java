package dev.ratelimit.web;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How often each policy was checked for one call. Attempts of a request have the same
 * checks in the same order, so the number tells the second check of a call from a retry
 * of the first.
 */
public final class CheckCounts {

	/** The attribute of an exchange or a servlet request that holds its counts. */
	public static final String ATTRIBUTE = CheckCounts.class.getName();

	private final Map<String, Integer> counts = new ConcurrentHashMap<>(2);

	/**
	 * Counts a check.
	 * @return how many there were before
	 */
	public int count(String policy) {
		return this.counts.merge(policy, 1, Integer::sum) - 1;
	}

}
