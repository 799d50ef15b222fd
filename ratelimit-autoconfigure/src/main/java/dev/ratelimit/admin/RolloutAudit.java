package dev.ratelimit.admin;

import dev.ratelimit.control.RolloutListener;

/**
 * Puts what rollouts do by themselves in the trail, beside what people do.
 */
public final class RolloutAudit implements RolloutListener {

	private final Audit audit;

	public RolloutAudit(Audit audit) {
		this.audit = audit;
	}

	@Override
	public void changed(Event event) {
		this.audit.record(new Audit.Entry(event.rolledBack() ? "rollout-back" : "rollout-stage", Audit.Outcome.DONE,
				event.author().actor(), event.policy(), "version " + event.before(), "version " + event.after(),
				event.author().reason()));
	}

}
