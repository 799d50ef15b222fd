package dev.ratelimit.admin;

import java.security.Principal;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.ForcedMode;
import dev.ratelimit.store.AuditRecord;

/**
 * Remembers who changed what, or tried to: a line on the logger
 * {@code dev.ratelimit.audit}, an entry in the trail that the fleet shares, and whoever
 * listens. Whatever an entry says is made printable first, so that none can look like
 * two.
 */
public final class Audit {

	/** What is tried by those who may not even look. */
	public static final String READ = "read";

	/** What actions of tenants begin with. */
	public static final String TENANT = "tenant-";

	private static final Logger audit = LoggerFactory.getLogger("dev.ratelimit.audit");

	private static final Logger logger = LoggerFactory.getLogger(Audit.class);

	private final Clock clock;

	private final AuditTrail trail;

	private final List<AuditListener> listeners;

	public Audit(Clock clock, AuditTrail trail, List<AuditListener> listeners) {
		this.clock = clock;
		this.trail = trail;
		this.listeners = List.copyOf(listeners);
	}

	public void record(Entry entry) {
		AuditRecord attempt = entry.at(this.clock.instant());
		boolean kept = this.trail.append(attempt);
		if (!kept && AuditTrail.Budget.of(attempt.action()) != AuditTrail.Budget.OPERATORS) {
			// There is no bound on how many these may be, so the log is not for all
			// either.
			return;
		}
		audit.info("time={} action={} outcome={} actor={}{} before={} after={} reason={}", attempt.time(),
				attempt.action(), attempt.outcome(), quoted(attempt.actor()),
				attempt.target().isEmpty() ? "" : " target=" + quoted(attempt.target()), quoted(attempt.before()),
				quoted(attempt.after()), quoted(attempt.reason()));
		for (AuditListener listener : this.listeners) {
			try {
				listener.recorded(attempt);
			}
			catch (RuntimeException ex) {
				logger.warn("A listener of audit events failed; the audit log has the entry", ex);
			}
		}
	}

	/**
	 * Remembers that somebody has sent a body that nobody could read.
	 * @param by what the action begins with, empty for operators
	 */
	public void unreadable(String by, @Nullable Principal principal) {
		if (by.equals(TENANT) && principal == null) {
			// Strangers must not be able to fill the trail.
			return;
		}
		record(new Entry(by + "unreadable", Outcome.INVALID, AdminChanges.actor(principal), "", "", ""));
	}

	private static String quoted(String text) {
		return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
	}

	/**
	 * How an attempt ended.
	 */
	public enum Outcome {

		/** As wished. */
		DONE,

		/** The actor may not. */
		REFUSED,

		/** It made no sense. */
		INVALID,

		/** It could not be written. */
		FAILED;

		String text() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/**
	 * One attempt.
	 *
	 * @param action what was tried, such as {@code switch-on}
	 * @param outcome how it ended
	 * @param actor who tried
	 * @param target what it was about, empty if the action says it
	 * @param before what was in force before
	 * @param after what is in force after
	 * @param reason why, in the actor's words
	 */
	public record Entry(String action, Outcome outcome, String actor, String target, String before, String after,
			String reason) {

		public Entry(String action, Outcome outcome, String actor, String before, String after, String reason) {
			this(action, outcome, actor, "", before, after, reason);
		}

		AuditRecord at(Instant time) {
			return new AuditRecord(time, this.action, this.outcome.text(), ForcedMode.printable(this.actor),
					ForcedMode.printable(this.target), ForcedMode.printable(this.before),
					ForcedMode.printable(this.after), ForcedMode.printable(this.reason));
		}

	}

}
