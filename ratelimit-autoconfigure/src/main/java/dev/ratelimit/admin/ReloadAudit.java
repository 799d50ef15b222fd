package dev.ratelimit.admin;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;
import dev.ratelimit.control.Configuration;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.control.ReloadListener;
import dev.ratelimit.json.Json;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;

/**
 * Records what a reload of the configuration changed, with one entry for each policy,
 * list and URL entry. Every instance reloads by itself; of those that change the same,
 * the trail has the first one, which the reason names. Overrides and list entries name
 * callers; entries only say that they changed.
 */
final class ReloadAudit implements ReloadListener {

	private static final String ACTION = "config-reload";

	private static final String ACTOR = "configuration";

	/** Entries of one reload; the rest is one entry with their number. */
	private static final int MOST = 50;

	private final Audit audit;

	private final PolicyContent content;

	private final String reason;

	private final ReloadClaims claims;

	ReloadAudit(Audit audit, RecordReader reader, String instance, LongSupplier nanos) {
		this.audit = audit;
		this.content = new PolicyContent(reader);
		this.reason = "reloaded by instance " + instance;
		this.claims = new ReloadClaims(nanos);
	}

	@Override
	public void reloaded(Configuration before, Configuration after) {
		Set<String> changed = changed(before.policies(), after.policies());
		Set<RecordKey> rejected = after.rejected().stream().map(Rejected::key).collect(Collectors.toSet());
		policies(changed.stream().filter((id) -> !rejected.contains(new RecordKey(Kind.POLICY, id))).toList(),
				before.policies(), after.policies());
		if (!before.allow().equals(after.allow())) {
			record(Audit.Outcome.DONE, "list allow", "", "changed");
		}
		if (!before.deny().equals(after.deny())) {
			record(Audit.Outcome.DONE, "list deny", "", "changed");
		}
		after.rejected()
			.stream()
			.filter((entry) -> !before.rejected().contains(entry)
					|| entry.key().kind() == Kind.POLICY && changed.contains(entry.key().id()))
			.limit(MOST)
			.forEach(this::rejected);
	}

	@Override
	public void urlsReloaded(Map<String, Object> before, Map<String, Object> after) {
		Set<String> names = changed(before, after);
		names.stream()
			.limit(MOST)
			.forEach(
					(name) -> record(Audit.Outcome.DONE, "url " + name, text(before.get(name)), text(after.get(name))));
		more(names.size(), "URL entries");
	}

	private static Set<String> changed(Map<String, ?> before, Map<String, ?> after) {
		Set<String> names = new TreeSet<>(before.keySet());
		names.addAll(after.keySet());
		names.removeIf((name) -> Objects.equals(before.get(name), after.get(name)));
		return names;
	}

	private void more(int number, String what) {
		if (number > MOST) {
			record(Audit.Outcome.DONE, (number - MOST) + " more " + what, "", "changed");
		}
	}

	private void policies(List<String> ids, Map<String, Policy> before, Map<String, Policy> after) {
		ids.stream()
			.limit(MOST)
			.forEach((id) -> record(Audit.Outcome.DONE, RecordIds.subject(RecordIds.policy(id)),
					this.content.differing(before.get(id), after.get(id)),
					this.content.differing(after.get(id), before.get(id))));
		more(ids.size(), "policies");
	}

	private void rejected(Rejected rejected) {
		record(Audit.Outcome.INVALID, rejected.key().kind().text() + " " + rejected.key().id(), "",
				"the previous version stays in force");
	}

	private void record(Audit.Outcome outcome, String target, String before, String after) {
		this.audit.recordOnce(new Audit.Entry(ACTION, outcome, ACTOR, target, before, after, this.reason),
				this.claims.of(Json.write(List.of(outcome.text(), target, before, after))));
	}

	private static String text(@Nullable Object entry) {
		return (entry != null) ? Json.write(entry) : "";
	}

}
