package dev.ratelimit.store;

import org.jspecify.annotations.Nullable;

/**
 * An entry of the audit trail.
 *
 * @param position where it is; the time is that of the trail
 * @param attempt its content
 * @param link its place in the chain, {@code null} if an earlier release, or somebody
 * else, wrote the entry
 */
public record AuditEntry(AuditPosition position, AuditRecord attempt, @Nullable AuditLink link) {
}
