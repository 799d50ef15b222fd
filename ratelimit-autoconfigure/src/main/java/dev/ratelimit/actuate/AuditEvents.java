package dev.ratelimit.actuate;

import java.util.Locale;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

import dev.ratelimit.admin.AuditListener;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.store.AuditRecord;

/**
 * Publishes attempts as Boot's audit events. Loaded only where Boot's audit is present.
 */
record AuditEvents(ApplicationEventPublisher publisher) implements AuditListener {

	@Override
	public void recorded(AuditRecord attempt) {
		String type = "RATELIMIT_" + attempt.action().toUpperCase(Locale.ROOT).replace('-', '_');
		JsonObject data = new JsonObject().with("outcome", attempt.outcome())
			.with("target", attempt.target().isEmpty() ? null : attempt.target())
			.with("before", attempt.before())
			.with("after", attempt.after())
			.with("reason", attempt.reason());
		this.publisher
			.publishEvent(new AuditApplicationEvent(new AuditEvent(attempt.time(), attempt.actor(), type, data)));
	}

}
