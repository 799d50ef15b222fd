package dev.ratelimit.admin;

import java.time.Duration;

/**
 * Bounds of the audit trail in the store.
 *
 * @param retention time that an entry is kept
 * @param maxEntries most entries that are kept
 */
record AuditOptions(Duration retention, int maxEntries) {

	private static final Duration SHORTEST = Duration.ofDays(1);

	private static final Duration LONGEST = Duration.ofDays(3_650);

	private static final int FEWEST = 100;

	private static final int MOST = 10_000_000;

	AuditOptions {
		if (retention.compareTo(SHORTEST) < 0 || retention.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException("'ratelimit.audit.retention' must be 1d to 3650d but was " + retention);
		}
		if (maxEntries < FEWEST || maxEntries > MOST) {
			throw new IllegalArgumentException(
					"'ratelimit.audit.max-entries' must be " + FEWEST + " to " + MOST + " but was " + maxEntries);
		}
	}

}
