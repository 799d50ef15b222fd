package dev.ratelimit.store;

import java.time.Instant;

/**
 * One attempt to change something, successful or not.
 *
 * @param time when; a store may go by its own clock
 * @param action what was tried, such as {@code policy-write}
 * @param outcome {@code done}, {@code refused}, {@code invalid} or {@code failed}
 * @param actor who
 * @param target what it was about
 * @param before how it was
 * @param after how it is now
 * @param reason why
 */
public record AuditRecord(Instant time, String action, String outcome, String actor, String target, String before,
		String after, String reason) {
}
