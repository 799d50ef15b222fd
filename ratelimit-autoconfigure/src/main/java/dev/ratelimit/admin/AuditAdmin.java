package dev.ratelimit.admin;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.AuditPosition;

/**
 * Shows the audit trail, as in {@code limit=50&before=2026-11-16T08:00:00Z}, or verifies
 * all of it ({@code verify=true}).
 */
public final class AuditAdmin {

	private final AuditTrail trail;

	private final AdminAccess access;

	AuditAdmin(AuditTrail trail, AdminAccess access) {
		this.trail = trail;
		this.access = access;
	}

	public CompletionStage<Map<String, Object>> show(Fields query, @Nullable Principal principal) {
		this.access.read("audit", principal, query, "limit", "before", "verify");
		if (query.flag("verify")) {
			for (String part : List.of("limit", "before")) {
				if (query.has(part)) {
					throw AdminProblem.invalid(part, "A verification checks the whole trail", "Leave it out.");
				}
			}
			return this.trail.verify();
		}
		AuditPosition before = query.parsed("before", AuditPosition::parse, "This is not a time",
				"Use a time such as 2026-11-16T08:00:00Z, or the value of 'before' in the last answer.");
		return this.trail.show(before, query.pageSize());
	}

}
