package dev.ratelimit.refusal;

import java.time.Duration;

/**
 * How much is written about refusals.
 *
 * @param linesPerSecond lines about refusals, and as many about allowed requests, at most
 * in a second; 0 for no log
 * @param sampleAllowed one in so many allowed requests is logged; 0 for none
 * @param perSecond entries at most in a second
 * @param perKey entries of one counter before the rest is only counted
 * @param maxEntries entries that are kept at most; 0 for no history
 */
public record RefusalOptions(int linesPerSecond, int sampleAllowed, int perSecond, int perKey, int maxEntries,
		Duration retention) {

	private static final int MAX_PER_SECOND = 10_000;

	/** The writer sends at most ten batches of 50 a second. */
	private static final int MAX_KEPT_PER_SECOND = 400;

	private static final int MAX_ENTRIES = 10_000_000;

	public RefusalOptions {
		require("lines-per-second", linesPerSecond, 0, MAX_PER_SECOND);
		require("sample-allowed", sampleAllowed, 0, Integer.MAX_VALUE);
		require("per-second", perSecond, 1, MAX_KEPT_PER_SECOND);
		require("per-key", perKey, 1, MAX_PER_SECOND);
		require("max-entries", maxEntries, 0, MAX_ENTRIES);
		if (retention.compareTo(Duration.ofMinutes(1)) < 0 || retention.compareTo(Duration.ofDays(365)) > 0) {
			throw new IllegalArgumentException("retention must be 1m to 365d but was " + retention);
		}
	}

	private static void require(String name, int value, int least, int most) {
		if (value < least || value > most) {
			throw new IllegalArgumentException(name + " must be " + least + " to " + most + " but was " + value);
		}
	}

}
