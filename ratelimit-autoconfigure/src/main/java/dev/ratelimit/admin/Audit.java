package dev.ratelimit.admin;

import java.security.Principal;
import java.time.Clock;
import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.EnumText;
import dev.ratelimit.PrintableText;
import dev.ratelimit.background.Listeners;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;

/**
 * Records who changed what, or tried to: a line on the logger
 * {@code dev.ratelimit.audit}, an entry in the trail that the fleet shares, and a call of
 * each listener. Texts are made printable first, so that one entry cannot look like two.
 * The steps of rollouts are recorded next to the changes of people.
 */
public final class Audit implements RolloutListener {

	/** Action of a refused read. */
	public static final String READ = "read";

	/** Prefix of the actions of tenants. */
	public static final String TENANT = "tenant-";

	private static final Logger audit = LoggerFactory.getLogger("dev.ratelimit.audit");

	private final Clock clock;

	private final AuditTrail trail;

	private final List<AuditListener> listeners;

	Audit(Clock clock, AuditTrail trail, List<AuditListener> listeners) {
		this.clock = clock;
		this.trail = trail;
		this.listeners = List.copyOf(listeners);
	}

	public void record(Entry entry) {
		record(entry, null, null);
	}

	/**
	 * Records what several instances do alike: each has a line in its log, and the trail
	 * has the entry of the first one.
	 * @param claim names what is the same for all of them
	 */
	void recordOnce(Entry entry, String claim) {
		record(entry, null, claim);
	}

	/**
	 * Records a removal of entries, and makes it.
	 * @param remove position of the newest entry to remove
	 */
	void record(Entry entry, AuditPosition remove) {
		record(entry, remove, null);
	}

	private void record(Entry entry, @Nullable AuditPosition remove, @Nullable String claim) {
		AuditRecord attempt = entry.at(this.clock.instant());
		boolean kept = this.trail.admits(attempt);
		if (!kept && AuditTrail.Budget.of(attempt.action()) != AuditTrail.Budget.OPERATORS) {
			// Their number has no bound, so the log does not take all of them either.
			return;
		}
		audit.info("time={} action={} outcome={} actor={}{} before={} after={} reason={} id={}", attempt.time(),
				attempt.action(), attempt.outcome(), quoted(attempt.actor()),
				attempt.target().isEmpty() ? "" : " target=" + quoted(attempt.target()), quoted(attempt.before()),
				quoted(attempt.after()), quoted(attempt.reason()), attempt.id());
		if (kept) {
			// Behind the line: the log has every entry that the trail has.
			this.trail.append(attempt, remove, claim);
		}
		Listeners.callAll(this.listeners, (listener) -> listener.recorded(attempt));
	}

	@Override
	public void changed(Event event) {
		record(new Entry(event.rolledBack() ? "rollout-back" : "rollout-stage", Outcome.DONE, event.author().actor(),
				RecordIds.subject(RecordIds.policy(event.policy())), "version " + event.before(),
				"version " + event.after(), event.author().reason()));
	}

	/**
	 * Records a body that could not be read.
	 * @param by prefix of the action, empty for operators
	 */
	void unreadable(String by, @Nullable Principal principal) {
		if (by.equals(TENANT) && principal == null) {
			// Strangers must not be able to fill the trail.
			return;
		}
		record(new Entry(by + "unreadable", Outcome.INVALID, AdminAccess.actor(principal), "", "", "", ""));
	}

	private static String quoted(String text) {
		return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
	}

	/**
	 * How an attempt ended.
	 */
	public enum Outcome {

		/** The change was made. */
		DONE,

		/** The actor lacks the authority. */
		REFUSED,

		/** The call was not valid. */
		INVALID,

		/** The change could not be written. */
		FAILED;

		String text() {
			return EnumText.of(this);
		}

	}

	/**
	 * One attempt.
	 *
	 * @param action what was tried, such as {@code switch-on}
	 * @param outcome how it ended
	 * @param actor who tried
	 * @param target what the action was about, empty if the action says it
	 * @param before what was in force before
	 * @param after what is in force after
	 * @param reason why, in the actor's words
	 */
	public record Entry(String action, Outcome outcome, String actor, String target, String before, String after,
			String reason) {

		/** Characters of a record's content: enough for one with many limits. */
		private static final int CONTENT = 2_000;

		Entry with(Outcome outcome, String after) {
			return new Entry(this.action, outcome, this.actor, this.target, this.before, after, this.reason);
		}

		Entry done(String before, String after) {
			return new Entry(this.action, Outcome.DONE, this.actor, this.target, before, after, this.reason);
		}

		AuditRecord at(Instant time) {
			return AuditRecord.of(time, this.action, this.outcome.text(), PrintableText.of(this.actor),
					PrintableText.of(this.target), PrintableText.of(this.before, CONTENT),
					PrintableText.of(this.after, CONTENT), PrintableText.of(this.reason));
		}

	}

}
