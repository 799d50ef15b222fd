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

/**
 * Remembers who changed what, or tried to: a line on the logger
 * {@code dev.ratelimit.audit} and an event for Boot's audit. Whatever an entry says is
 * made printable first, so that none can look like two.
 */
public final class Audit {

	private static final Logger audit = LoggerFactory.getLogger("dev.ratelimit.audit");

	private static final Logger logger = LoggerFactory.getLogger(Audit.class);

	private final ApplicationEventPublisher publisher;

	private final Clock clock;

	public Audit(ApplicationEventPublisher publisher, Clock clock) {
		this.publisher = publisher;
		this.clock = clock;
	}

	void record(Entry entry) {
		Instant time = this.clock.instant();
		audit.info("time={} action={} outcome={} actor={} before={} after={} reason={}", time, entry.action(),
				entry.outcome().text(), quoted(entry.actor()), quoted(entry.before()), quoted(entry.after()),
				quoted(entry.reason()));
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("outcome", entry.outcome().text());
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
	 * @param before what was in force before
	 * @param after what is in force after
	 * @param reason why, in the actor's words
	 */
	record Entry(String action, Outcome outcome, String actor, String before, String after, String reason) {
	}

}
