package dev.ratelimit.actuate;

import java.security.Principal;

import dev.ratelimit.admin.AdminChanges;
import dev.ratelimit.admin.Audit;

/**
 * Adds to the trail what the application's own security has turned away, before the
 * endpoint could. Only of callers that it knows: who is not logged in could fill a trail
 * that nothing is ever taken from.
 */
public final class DeniedAttempts {

	private final AdminPaths paths;

	private final Audit audit;

	public DeniedAttempts(AdminPaths paths, Audit audit) {
		this.paths = paths;
		this.audit = audit;
	}

	void denied(Principal principal, String method, String path) {
		String target = this.paths.target(method, path);
		if (target != null) {
			this.audit.record(new Audit.Entry(AdminPaths.isRead(method) ? Audit.READ : "denied-by-security",
					Audit.Outcome.REFUSED, AdminChanges.actor(principal), target, "", "", ""));
		}
	}

}
