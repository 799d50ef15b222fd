package dev.ratelimit.admin;

import java.security.Principal;

import org.jspecify.annotations.Nullable;

/**
 * Lets those look who may, and leaves a trail of others.
 */
public final class AdminReaders {

	private final AdminCheck check;

	private final Audit audit;

	public AdminReaders(AdminCheck check, Audit audit) {
		this.check = check;
		this.audit = audit;
	}

	/**
	 * Checks that somebody may look.
	 * @param what at what, without anything that names a caller
	 * @throws AdminProblem if not
	 */
	public void require(@Nullable Principal principal, String what) {
		if (!this.check.mayRead(principal)) {
			if (principal != null) {
				// Strangers must not be able to fill the trail.
				this.audit.record(new Audit.Entry(Audit.READ, Audit.Outcome.REFUSED, AdminChanges.actor(principal),
						what, "", "", ""));
			}
			throw AdminProblem
				.forbidden("Reads need the authority " + AdminCheck.VIEWER + " or " + AdminCheck.AUTHORITY);
		}
	}

}
