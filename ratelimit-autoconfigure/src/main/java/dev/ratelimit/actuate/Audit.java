package dev.ratelimit.actuate;

import java.time.Clock;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

import dev.ratelimit.ForcedMode;
import dev.ratelimit.store.AuditRecord;

/**
 * Remembers who changed what, or tried to: a line on the logger
 * {@code dev.ratelimit.audit}, an event for Boot's audit, and an entry in the trail that
 * the fleet shares. Whatever an entry says is made printable first, so that none can look
 * like two.
 */
public final class Audit {

	private static final Logger audit = LoggerFactory.getLogger("dev.ratelimit.audit");

	private static final Logger logger = LoggerFactory.getLogger(Audit.class);

	private final ApplicationEventPublisher publisher;

	private final Clock clock;

	private final AuditTrail trail;

	public Audit(ApplicationEventPublisher publisher, Clock clock, AuditTrail trail) {
		this.publisher = publisher;
		this.clock = clock;
		this.trail = trail;
	}

	void record(Entry entry) {
		Instant time = this.clock.instant();
		audit.info("time={} action={} outcome={} actor={}{} before={} after={} reason={}", time, entry.action(),
				entry.outcome().text(), quoted(entry.actor()),
				entry.target().isEmpty() ? "" : " target=" + quoted(entry.target()), quoted(entry.before()),
				quoted(entry.after()), quoted(entry.reason()));
		this.trail.append(entry.at(time));
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("outcome", entry.outcome().text());
		if (!entry.target().isEmpty()) {
			data.put("target", ForcedMode.printable(entry.target()));
		}
		data.put("before", entry.before());
		data.put("after", entry.after());
		data.put("reason", ForcedMode.printable(entry.reason()));
		try {
			this.publisher.publishEvent(
					new AuditApplicationEvent(new AuditEvent(time, entry.actor(), type(entry.action()), data)));
		}
		catch (RuntimeException ex) {
			logger.warn("A listener of audit events failed; the audit log has the entry", ex);
		}
	}

	private static String type(String action) {
		return "RATELIMIT_" + action.toUpperCase(Locale.ROOT).replace('-', '_');
	}

	private static String quoted(String text) {
		return '"' + ForcedMode.printable(text).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
	}

	/**
	 * How an attempt ended.
	 */
	enum Outcome {

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
	record Entry(String action, Outcome outcome, String actor, String target, String before, String after,
			String reason) {

		Entry(String action, Outcome outcome, String actor, String before, String after, String reason) {
			this(action, outcome, actor, "", before, after, reason);
		}

		AuditRecord at(Instant time) {
			return new AuditRecord(time, this.action, this.outcome.text(), ForcedMode.printable(this.actor),
					ForcedMode.printable(this.target), ForcedMode.printable(this.before),
					ForcedMode.printable(this.after), ForcedMode.printable(this.reason));
		}

	}

}
