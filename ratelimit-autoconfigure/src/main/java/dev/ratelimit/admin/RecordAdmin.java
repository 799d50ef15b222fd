package dev.ratelimit.admin;

import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.EnumText;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.fleet.FleetRevisions;
import dev.ratelimit.json.Json;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;

/**
 * Shows and changes the records of single callers: overrides, tiers, and entries of the
 * allow-list and the deny-list. The audit trail names the record, with its content before
 * and after.
 */
public final class RecordAdmin {

	/** How many entries of a list are shown at once. */
	private static final int MAX_SHOWN = 1_000;

	private final @Nullable ControlPlane control;

	private final @Nullable FleetRevisions revisions;

	private final RecordNames names;

	private final AdminAccess access;

	/**
	 * @param control {@code null} if there is no store
	 * @param revisions {@code null} if instances do not know each other
	 */
	RecordAdmin(@Nullable ControlPlane control, @Nullable FleetRevisions revisions, RecordNames names,
			AdminAccess access) {
		this.control = control;
		this.names = names;
		this.revisions = revisions;
		this.access = access;
	}

	/**
	 * An override or a tier, as this instance knows it.
	 */
	public Map<String, Object> show(RecordPath path, Fields query, @Nullable Principal principal) {
		this.access.read(path.what(), principal, query);
		RecordVersion version = control().find(path.key().get());
		if (version == null) {
			throw AdminProblem.missing("", "There is no such record", "Write it with PUT.");
		}
		return describe(version);
	}

	public CompletionStage<Map<String, Object>> put(RecordPath path, Fields body, @Nullable Principal principal) {
		return attempt("put", body, principal, () -> {
			body.only(path.example(), List.of(path.field(), "expect", "reason"));
			Object content = body.required(path.field(), path.example());
			return new Change(path.key().get(), Map.of(path.field(), content), body.version("expect"));
		});
	}

	public CompletionStage<Map<String, Object>> delete(RecordPath path, Fields query, @Nullable Principal principal) {
		return attempt("delete", query, principal,
				() -> new Change(path.key().get(), null, query.only("expect", "reason").version("expect")));
	}

	/**
	 * The entries of a list that follow the id {@code after}, as this instance knows
	 * them.
	 */
	public Map<String, Object> list(String name, Fields query, @Nullable Principal principal) {
		String after = this.access.read("lists", principal, query, "after").text("after", "");
		Kind list = RecordRequest.list(name);
		List<RecordVersion> entries = control().list(list, after, MAX_SHOWN);
		String next = (entries.size() == MAX_SHOWN) ? RecordIds.today(entries.get(MAX_SHOWN - 1).key()).id() : null;
		return new JsonObject().with("entries", entries.stream().map(RecordAdmin::describe).toList())
			.with("next", next);
	}

	public CompletionStage<Map<String, Object>> putEntry(String list, Fields body, @Nullable Principal principal) {
		return attempt("put", body, principal, () -> {
			body.only("Send something like {\"entry\": {\"ip\": \"203.0.113.0/24\"}, \"reason\": \"…\"}.",
					List.of("entry", "expect", "reason"));
			return new Change(RecordRequest.entry(RecordRequest.list(list), body.object("entry")), Map.of(),
					body.version("expect"));
		});
	}

	/**
	 * Removes an entry from a list.
	 * @param query the values of the entry, {@code reason} and {@code expect}
	 */
	public CompletionStage<Map<String, Object>> deleteEntry(String list, Fields query, @Nullable Principal principal) {
		return attempt("delete", query, principal, () -> {
			query.requireReadable("");
			Map<String, Object> entry = new LinkedHashMap<>();
			query.names().forEach((name) -> entry.put(name, query.text(name, "")));
			entry.keySet().removeAll(List.of("reason", "expect"));
			return new Change(RecordRequest.entry(RecordRequest.list(list), entry), null, query.version("expect"));
		});
	}

	public CompletionStage<Map<String, Object>> importPage(Fields body, @Nullable Principal principal) {
		List<Change> named = readable(() -> RecordRequest.page(body));
		String target = (named != null) ? this.names.digest(named) : "";
		int size = (named != null) ? named.size() : 0;
		AtomicInteger written = new AtomicInteger();
		return this.access.attempt("record-import", target, body, principal, "", () -> {
			ControlPlane control = control();
			List<Change> page = RecordRequest.page(body);
			return control.writeAll(page, AdminAccess.author(body, principal), written::set)
				.thenApply((revision) -> new AdminAccess.Result("", imported(page.size(), page.size()),
						Map.of("records", page.size(), "revision", revision)));
		}, () -> imported(written.get(), size));
	}

	private static String imported(int written, int size) {
		// An answer that was lost may have written more.
		return ((written < size) ? "at least " : "") + written + " of " + size + " records written";
	}

	/** What a call asks for, {@code null} if it is not valid: the attempt says why. */
	private static <T> @Nullable T readable(Supplier<T> wanted) {
		try {
			return wanted.get();
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	/**
	 * Ends an incident of the store: {@code reseed} writes what this instance knows to
	 * the store, {@code accept} takes over what the store has. Both need the number of
	 * records that they remove as {@code confirm}.
	 */
	public CompletionStage<Map<String, Object>> recover(Fields body, @Nullable Principal principal) {
		String wanted = wanted(body);
		return this.access.attempt("store-recovery", wanted, body, principal, incident(), () -> {
			ControlPlane control = control();
			Author author = AdminAccess.author(body, principal);
			body.only("Send {\"action\": \"reseed\", \"reason\": \"…\"}.",
					List.of("action", "confirm", "force", "reason"));
			Recovery action = body.choice("action", Recovery.class, null);
			Long confirmed = body.version("confirm");
			CompletionStage<Void> done = switch (action) {
				case RESEED -> requireNewest(control, body.flag("force"))
					.thenCompose((newest) -> control.reseed(confirmed, author));
				case ACCEPT -> control.accept(confirmed, author);
			};
			// It succeeds only with the number of records that it removes.
			long removed = (confirmed != null) ? confirmed : 0;
			String before = incident();
			return done.thenApply((none) -> new AdminAccess.Result(before,
					incident() + ", " + removed + " records removed", recovered(control, action, removed)));
		});
	}

	/** What a call asks for. */
	private static String wanted(Fields body) {
		Recovery action = readable(() -> body.choice("action", Recovery.class, null));
		boolean forced = Boolean.TRUE.equals(readable(() -> body.flag("force")));
		return (action == null) ? "" : EnumText.of(action) + (forced ? ", forced" : "");
	}

	/** An instance that is behind another one would bring old records back. */
	private CompletionStage<Void> requireNewest(ControlPlane control, boolean force) {
		if (force || this.revisions == null) {
			return CompletableFuture.completedStage(null);
		}
		return this.revisions.revisions().handle((revisions, failure) -> {
			if (failure != null) {
				throw AdminProblem.unavailable("Redis does not say which revisions the other instances have read; to "
						+ "reseed from this instance all the same, add \"force\": true");
			}
			long own = control.state().revision();
			revisions.forEach((instance, revision) -> {
				if (revision > own) {
					throw AdminProblem
						.conflict(
								"Instance " + instance + " has read revision " + revision
										+ " of the store, this one only " + own,
								null, "Send the call to that instance, or add \"force\": true.");
				}
			});
			return null;
		});
	}

	private static Map<String, Object> recovered(ControlPlane control, Recovery action, long removed) {
		return new JsonObject().with("stale", control.state().stale())
			.with("revision", control.state().revision())
			.with("removed", (removed > 0) ? removed : null)
			.with("note",
					(action == Recovery.RESEED)
							? "The store has the newest version of each record again. Older versions and audit entries "
									+ "that it lost are not restored"
							: null);
	}

	private CompletionStage<Map<String, Object>> attempt(String verb, Fields fields, @Nullable Principal principal,
			Supplier<Change> wanted) {
		Change named = readable(wanted);
		String target = (named != null) ? this.names.of(named.key()) : "";
		return this.access.attempt("record-" + verb, target, fields, principal, "", () -> {
			ControlPlane control = control();
			Change change = wanted.get();
			RecordVersion known = control.find(change.key());
			return control.write(change, AdminAccess.author(fields, principal))
				.thenApply((written) -> new AdminAccess.Result((known != null) ? text(known) : "none", text(written),
						describe(written)));
		});
	}

	private ControlPlane control() {
		return AdminAccess.requireStore(this.control);
	}

	private String incident() {
		return (this.control == null || this.control.state().incident() == null) ? "none"
				: this.control.state().incident().text();
	}

	private static Map<String, Object> describe(RecordVersion version) {
		Kind kind = version.key().kind();
		boolean entry = kind == Kind.ALLOW || kind == Kind.DENY;
		return new JsonObject().with("entry", entry ? RecordIds.entry(RecordIds.today(version.key())) : null)
			.withAll((entry || version.deleted()) ? Map.of() : ControlPlane.body(version))
			.withAll(PolicyView.of(version))
			.with("revision", version.revision());
	}

	/** The entry of a list has no content but its id. */
	private static String text(RecordVersion version) {
		Kind kind = version.key().kind();
		boolean entry = kind == Kind.ALLOW || kind == Kind.DENY;
		return "version " + version.version()
				+ (version.deleted() ? " (deleted)" : entry ? "" : ' ' + Json.write(ControlPlane.body(version)));
	}

	/** Ways to end an incident of the store. */
	private enum Recovery {

		RESEED, ACCEPT

	}

}
