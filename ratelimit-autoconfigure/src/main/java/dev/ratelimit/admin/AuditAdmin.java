package dev.ratelimit.actuate;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.AuditTrail;

/**
 * Shows the audit trail, and adds what could not even be read.
 */
public final class AuditAdmin {

	private final AuditTrail trail;

	private final Audit audit;

	public AuditAdmin(AuditTrail trail, Audit audit) {
		this.trail = trail;
		this.audit = audit;
	}

	/**
	 * A page of the trail. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> show(Map<String, String> parameters) {
		try {
			AuditQuery query = AuditQuery.parse(parameters);
			return this.trail.show(query.before(), query.limit());
		}
		catch (AdminProblem ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/**
	 * Somebody has sent a body that nobody could read.
	 */
	AdminProblem unreadable(AdminProblem problem, @Nullable Principal principal) {
		this.audit.unreadable("", principal);
		return problem;
	}

}
