package dev.ratelimit.store;

import java.time.Instant;

/**
 * One attempt to change something, successful or not.
 *
 * @param time when; a store may go by its own clock
 * @param sequence tells entries of the same time apart; whoever keeps the trail gives it
 * @param action what was tried, such as {@code policy-write}
 * @param outcome {@code done}, {@code refused}, {@code invalid} or {@code failed}
 * @param actor who
 * @param target what it was about
 * @param before how it was
 * @param after how it is now
 * @param reason why
 */
public record AuditRecord(Instant time, long sequence, String action, String outcome, String actor, String target,
		String before, String after, String reason) {

	/**
	 * One that is not in a trail yet.
	 */
	public AuditRecord(Instant time, String action, String outcome, String actor, String target, String before,
			String after, String reason) {
		this(time, 0, action, outcome, actor, target, before, after, reason);
	}

	/**
	 * The same in a trail.
	 */
	public AuditRecord at(long sequence) {
		return new AuditRecord(this.time, sequence, this.action, this.outcome, this.actor, this.target, this.before,
				this.after, this.reason);
	}

	/**
	 * Where it is in the trail.
	 */
	public AuditPosition position() {
		return new AuditPosition(this.time, this.sequence);
	}

}
