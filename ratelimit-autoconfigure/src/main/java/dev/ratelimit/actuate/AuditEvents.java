package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

import dev.ratelimit.admin.AuditListener;
import dev.ratelimit.store.AuditRecord;

/**
 * Tells Boot's audit of attempts. Loaded only where that is present.
 */
public final class AuditEvents implements AuditListener {

	private final ApplicationEventPublisher publisher;

	public AuditEvents(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void recorded(AuditRecord attempt) {
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("outcome", attempt.outcome());
		if (!attempt.target().isEmpty()) {
			data.put("target", attempt.target());
		}
		data.put("before", attempt.before());
		data.put("after", attempt.after());
		data.put("reason", attempt.reason());
		String type = "RATELIMIT_" + attempt.action().toUpperCase(Locale.ROOT).replace('-', '_');
		this.publisher
			.publishEvent(new AuditApplicationEvent(new AuditEvent(attempt.time(), attempt.actor(), type, data)));
	}

}
