package dev.ratelimit.actuate;

import java.security.Principal;

import dev.ratelimit.admin.AdminAccess;
import dev.ratelimit.admin.Audit;

/**
 * Records in the audit trail what the application's own security refuses before the
 * endpoint is called. Only for known callers: anonymous callers could fill a trail that
 * keeps entries for months.
 */
public final class DeniedAttempts {

	private final AdminPaths paths;

	private final Audit audit;

	DeniedAttempts(AdminPaths paths, Audit audit) {
		this.paths = paths;
		this.audit = audit;
	}

	void denied(Principal principal, String method, String path) {
		String target = this.paths.target(method, path);
		if (target != null) {
			this.audit.record(new Audit.Entry(AdminPaths.isRead(method) ? Audit.READ : "denied-by-security",
					Audit.Outcome.REFUSED, AdminAccess.actor(principal), target, "", "", ""));
		}
	}

}
