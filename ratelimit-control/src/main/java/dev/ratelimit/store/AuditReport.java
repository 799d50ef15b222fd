package dev.ratelimit.store;

import org.jspecify.annotations.Nullable;

/**
 * What a verification of the audit trail found.
 *
 * @param complete whether it ended in time
 * @param entries number of chained entries that were checked
 * @param start the oldest of them, {@code null} if there are none
 * @param trimmed whether older entries were removed because they were too old or too many
 * @param broken the first broken entry, {@code null} if there is none
 * @param unchained number of entries without a hash after the start of the chain
 * @param firstUnchained the first of them
 * @param older number of entries without a hash before the start of the chain
 */
public record AuditReport(boolean complete, long entries, @Nullable AuditEntry start, boolean trimmed,
		@Nullable Problem broken, long unchained, @Nullable AuditEntry firstUnchained, long older) {

	/**
	 * A broken chain.
	 *
	 * @param entry {@code null} if there is no entry left to name
	 */
	public record Problem(@Nullable AuditEntry entry, String text) {
	}

}
