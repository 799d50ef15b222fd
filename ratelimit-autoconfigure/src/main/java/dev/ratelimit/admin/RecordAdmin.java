package dev.ratelimit.actuate;

import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminChanges;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.AdminQuery;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.ControlProblems;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * Shows and changes what is said about single callers, for those who may and leaving a
 * trail. The trail does not name the caller: the store has the versions of the record.
 */
public final class RecordAdmin {

	/** How many entries of a list are shown at once. */
	private static final int MAX_SHOWN = 1_000;

	private final @Nullable ControlPlane control;

	private final AdminChanges changes;

	/**
	 * Creates it.
	 * @param control {@code null} if there is no store
	 */
	public RecordAdmin(@Nullable ControlPlane control, AdminCheck check, Audit audit) {
		this.control = control;
		this.changes = new AdminChanges(check, audit);
	}

	/**
	 * One record, as this instance knows it.
	 */
	Map<String, Object> show(Supplier<RecordKey> key) {
		RecordVersion version = ControlProblems.require(this.control).find(key.get());
		if (version == null) {
			throw missing();
		}
		return describe(version);
	}

	/**
	 * The entries of a list, as this instance knows them.
	 * @param after only what is behind this id, which the page before ended with
	 */
	Map<String, Object> list(String name, String after) {
		Kind list = RecordRequest.list(name);
		List<RecordVersion> entries = ControlProblems.require(this.control).list(list, after, MAX_SHOWN);
		Map<String, Object> shown = new LinkedHashMap<>();
		shown.put("entries", entries.stream().map(RecordAdmin::describe).toList());
		if (entries.size() == MAX_SHOWN) {
			shown.put("next", RecordIds.today(entries.get(MAX_SHOWN - 1).key()).id());
		}
		return shown;
	}

	/**
	 * Writes a record that its path names. Fails with an {@link AdminProblem}.
	 * @param field what the body has to say about the caller
	 */
	CompletionStage<Map<String, Object>> put(Supplier<RecordKey> key, String field, AdminBody body, String example,
			@Nullable Principal principal) {
		return attempt("put", principal, PolicyAdmin.author(body.reason(), principal), () -> {
			body.requireOnly(example, List.of(field, "expect", "reason"));
			return new Change(key.get(), Map.of(field, body.required(field, example)), body.version("expect"));
		});
	}

	/**
	 * Puts an entry on a list. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> putEntry(String list, AdminBody body, @Nullable Principal principal) {
		return attempt("put", principal, PolicyAdmin.author(body.reason(), principal), () -> {
			body.requireOnly("Send something like {\"entry\": {\"ip\": \"203.0.113.0/24\"}, \"reason\": \"…\"}.",
					List.of("entry", "expect", "reason"));
			return new Change(RecordRequest.entry(RecordRequest.list(list), body.object("entry")), Map.of(),
					body.version("expect"));
		});
	}

	/**
	 * Deletes a record. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> delete(Supplier<RecordKey> key, Map<String, String> parameters,
			@Nullable Principal principal) {
		return attempt("delete", principal, PolicyAdmin.author(AdminQuery.reason(parameters), principal), () -> {
			AdminQuery query = AdminQuery.of(parameters, "expect", "reason");
			return new Change(key.get(), null, query.version("expect"));
		});
	}

	/**
	 * Takes an entry from a list. Fails with an {@link AdminProblem}.
	 * @param query what the entry says, and besides 'reason' and 'expect'
	 */
	CompletionStage<Map<String, Object>> deleteEntry(String list, Map<String, String> query,
			@Nullable Principal principal) {
		Map<String, String> entry = new LinkedHashMap<>(query);
		Map<String, String> rest = new LinkedHashMap<>(query);
		rest.keySet().retainAll(List.of("reason", "expect"));
		entry.keySet().removeAll(rest.keySet());
		return attempt("delete", principal, PolicyAdmin.author(AdminQuery.reason(query), principal),
				() -> new Change(RecordRequest.entry(RecordRequest.list(list), entry), null,
						AdminQuery.of(rest, "expect", "reason").version("expect")));
	}

	/**
	 * Writes a page of records. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> importPage(AdminBody body, @Nullable Principal principal) {
		Author author = PolicyAdmin.author(body.reason(), principal);
		return this.changes.attempt("record-import", "", author.reason(), principal, "", () -> {
			ControlPlane control = ControlProblems.require(this.control);
			List<Change> page = RecordRequest.page(body);
			return ControlProblems.translated(control.writeAll(page, author))
				.thenApply((revision) -> new AdminChanges.Result("", page.size() + " records",
						Map.of("records", page.size(), "revision", revision)));
		});
	}

	/**
	 * Ends an incident of the store. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> recover(AdminBody body, @Nullable Principal principal) {
		Author author = PolicyAdmin.author(body.reason(), principal);
		return this.changes.attempt("store-recovery", "", author.reason(), principal, incident(), () -> {
			ControlPlane control = ControlProblems.require(this.control);
			body.requireOnly("Send {\"action\": \"reseed\", \"reason\": \"…\"}.", List.of("action", "reason"));
			CompletionStage<Void> done = switch (body.text("action")) {
				case "reseed" -> control.reseed(author);
				case "accept" -> control.accept(author);
				default -> throw AdminProblem.invalid("action", "There is no such action",
						"Use reseed to give the store what this instance knows, or accept to take what it has.");
			};
			String before = incident();
			return ControlProblems.translated(done)
				.thenApply((none) -> new AdminChanges.Result(before, incident(),
						Map.of("stale", control.state().stale(), "revision", control.state().revision())));
		});
	}

	private CompletionStage<Map<String, Object>> attempt(String verb, @Nullable Principal principal, Author author,
			Supplier<Change> wished) {
		return this.changes.attempt("record-" + verb, "", author.reason(), principal, "", () -> {
			ControlPlane control = ControlProblems.require(this.control);
			Change change = wished.get();
			RecordVersion known = control.find(change.key());
			return ControlProblems.translated(control.write(change, author))
				.thenApply((written) -> new AdminChanges.Result((known != null) ? text(known) : "none", text(written),
						describe(written)));
		});
	}

	private String incident() {
		return (this.control == null || this.control.state().incident() == null) ? "none"
				: this.control.state().incident().text();
	}

	private static Map<String, Object> describe(RecordVersion version) {
		Map<String, Object> described = new LinkedHashMap<>();
		Kind kind = version.key().kind();
		if (kind == Kind.ALLOW || kind == Kind.DENY) {
			described.put("entry", RecordIds.entry(RecordIds.today(version.key())));
		}
		else if (!version.deleted()) {
			described.putAll(ControlPlane.body(version));
		}
		described.putAll(PolicyAdmin.describe(version));
		described.put("revision", version.revision());
		return described;
	}

	private static String text(RecordVersion version) {
		return RecordIds.subject(version.key()) + ", version " + version.version()
				+ (version.deleted() ? " (deleted)" : "");
	}

	private static AdminProblem missing() {
		return AdminProblem.missing("", "There is no such record", "Write it with PUT.");
	}

}
