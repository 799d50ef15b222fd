package dev.ratelimit.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;
import dev.ratelimit.control.Configuration;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.control.ReloadListener;
import dev.ratelimit.json.Json;

/**
 * Records what a reload of the configuration changed, with one entry for each policy and
 * list. Every instance reloads by itself, so the reason names it. Overrides and list
 * entries name callers; entries only say that they changed.
 */
final class ReloadAudit implements ReloadListener {

	private static final String ACTION = "config-reload";

	private static final String ACTOR = "configuration";

	/** Entries of one reload; the rest is one entry with their number. */
	private static final int MOST = 50;

	private final Audit audit;

	private final RecordReader reader;

	private final String reason;

	ReloadAudit(Audit audit, RecordReader reader, String instance) {
		this.audit = audit;
		this.reader = reader;
		this.reason = "reloaded by instance " + instance;
	}

	@Override
	public void reloaded(Configuration before, Configuration after) {
		policies(before.policies(), after.policies());
		if (!before.allow().equals(after.allow())) {
			record(Audit.Outcome.DONE, "list allow", "", "changed");
		}
		if (!before.deny().equals(after.deny())) {
			record(Audit.Outcome.DONE, "list deny", "", "changed");
		}
		after.rejected()
			.stream()
			.filter((rejected) -> !before.rejected().contains(rejected))
			.limit(MOST)
			.forEach(this::rejected);
	}

	private void policies(Map<String, Policy> before, Map<String, Policy> after) {
		Set<String> ids = new TreeSet<>(before.keySet());
		ids.addAll(after.keySet());
		ids.removeIf((id) -> Objects.equals(before.get(id), after.get(id)));
		ids.stream()
			.limit(MOST)
			.forEach((id) -> record(Audit.Outcome.DONE, "policy " + id, text(before.get(id), before.get(id)),
					text(after.get(id), before.get(id))));
		if (ids.size() > MOST) {
			record(Audit.Outcome.DONE, (ids.size() - MOST) + " more policies", "", "changed");
		}
	}

	private void rejected(Rejected rejected) {
		record(Audit.Outcome.INVALID, rejected.key().kind().text() + " " + rejected.key().id(), "",
				"the previous version stays in force");
	}

	private void record(Audit.Outcome outcome, String target, String before, String after) {
		this.audit.record(new Audit.Entry(ACTION, outcome, ACTOR, target, before, after, this.reason));
	}

	private String text(@Nullable Policy policy, @Nullable Policy other) {
		if (policy == null) {
			return "";
		}
		Map<String, Object> document = new LinkedHashMap<>(this.reader.document(policy));
		Object overrides = document.remove("overrides");
		Object others = (other != null) ? this.reader.document(other).get("overrides") : null;
		return Json.write(document) + (Objects.equals(overrides, others) ? "" : " and other overrides");
	}

}
