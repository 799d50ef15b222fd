package dev.ratelimit.admin;

import dev.ratelimit.store.AuditRecord;

/**
 * Hears of every attempt to change something. What it throws is logged.
 */
@FunctionalInterface
public interface AuditListener {

	/**
	 * Somebody has changed something, or tried to.
	 */
	void recorded(AuditRecord attempt);

}
