package dev.ratelimit.actuate;

import java.time.DateTimeException;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.AdminQuery;
import dev.ratelimit.store.AuditPosition;

/**
 * Reads {@code ?limit=50&before=2026-11-16T08:00:00Z}, or what the page before says.
 *
 * @param before only what is older, {@code null} for no bound
 * @param limit how many entries at most
 */
record AuditQuery(@Nullable AuditPosition before, int limit) {

	static AuditQuery parse(Map<String, String> parameters) {
		AdminQuery.of(parameters, "limit", "before");
		return new AuditQuery(before(parameters.get("before")), PageSize.of(parameters.get("limit")));
	}

	private static @Nullable AuditPosition before(@Nullable String text) {
		try {
			return (text != null) ? AuditPosition.parse(text) : null;
		}
		catch (DateTimeException ex) {
			throw AdminProblem.invalid("before", "This is not a time",
					"Use a time such as 2026-11-16T08:00:00Z, or what the last answer calls before.");
		}
	}

}
