package dev.ratelimit.store;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * One attempt to change something, successful or not.
 *
 * @param id unique; recognizes an attempt that is sent again. Empty if an earlier release
 * wrote the entry
 * @param time in whole microseconds, by the clock of the instance
 * @param action such as {@code policy-write}
 * @param outcome {@code done}, {@code refused}, {@code invalid} or {@code failed}
 * @param target the record or counter
 * @param reason may be empty
 */
public record AuditRecord(String id, Instant time, String action, String outcome, String actor, String target,
		String before, String after, String reason) {

	/** An attempt with a new id. */
	public static AuditRecord of(Instant time, String action, String outcome, String actor, String target,
			String before, String after, String reason) {
		// Not a SecureRandom, which may block.
		ThreadLocalRandom random = ThreadLocalRandom.current();
		return new AuditRecord(new UUID(random.nextLong(), random.nextLong()).toString(),
				time.truncatedTo(ChronoUnit.MICROS), action, outcome, actor, target, before, after, reason);
	}

}
