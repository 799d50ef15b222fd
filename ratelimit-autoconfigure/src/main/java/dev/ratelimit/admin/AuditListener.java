package dev.ratelimit.admin;

import dev.ratelimit.store.AuditRecord;

/**
 * Is called for every attempt to change something. An exception is logged.
 */
@FunctionalInterface
public interface AuditListener {

	void recorded(AuditRecord attempt);

}
