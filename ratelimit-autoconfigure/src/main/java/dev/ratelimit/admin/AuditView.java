package dev.ratelimit.admin;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.json.JsonObject;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditLink;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.AuditReport;

/**
 * Entries of the audit trail and its verification as answers.
 */
final class AuditView {

	private AuditView() {
	}

	static Map<String, Object> of(AuditEntry entry) {
		AuditRecord attempt = entry.attempt();
		return new JsonObject().with("time", attempt.time().toString())
			.with("action", attempt.action())
			.with("outcome", attempt.outcome())
			.with("actor", attempt.actor())
			.with("target", attempt.target())
			.with("before", attempt.before())
			.with("after", attempt.after())
			.with("reason", attempt.reason())
			.with("id", attempt.id().isEmpty() ? null : attempt.id())
			.with("number", number(entry));
	}

	static Map<String, Object> of(AuditReport report) {
		AuditReport.Problem broken = report.broken();
		return new JsonObject().with("source", "store")
			.with("result", result(report))
			.with("broken", (broken != null) ? named(broken.entry()).with("problem", broken.text()) : null)
			.with("firstUnchained", (report.firstUnchained() != null) ? named(report.firstUnchained()) : null)
			.with("entries", report.entries())
			.with("unchained", report.unchained())
			.with("start", (report.start() != null) ? named(report.start()).with("trimmed", report.trimmed()) : null)
			.with("olderUnchained", report.older());
	}

	private static String result(AuditReport report) {
		return (report.broken() != null) ? "broken"
				: !report.complete() ? "unfinished" : (report.unchained() > 0) ? "unchained" : "intact";
	}

	/** What finds the entry in the trail and in the log. */
	private static JsonObject named(@Nullable AuditEntry entry) {
		return (entry == null) ? new JsonObject()
				: new JsonObject().with("number", number(entry))
					.with("id", entry.attempt().id().isEmpty() ? null : entry.attempt().id())
					.with("time", entry.attempt().time().toString())
					.with("action", entry.attempt().action())
					.with("actor", entry.attempt().actor())
					.with("position", entry.position().text());
	}

	private static @Nullable Long number(AuditEntry entry) {
		AuditLink link = entry.link();
		return (link != null) ? link.number() : null;
	}

}
