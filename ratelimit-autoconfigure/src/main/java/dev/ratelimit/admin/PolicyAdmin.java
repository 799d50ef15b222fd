package dev.ratelimit.admin;

import java.security.Principal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Policy;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.ReplicaState;

/**
 * Shows policies with their versions and changes them. The audit trail has the fields
 * that changed: the store keeps only the newest versions.
 */
public final class PolicyAdmin {

	private static final String EXAMPLE = "Send something like {\"policy\": {\"limits\": {\"per-user\": {\"by\": \"user\", "
			+ "\"quota\": \"100/s\"}}}, \"expect\": 3, \"reason\": \"…\"} or {\"rollback\": 2, \"reason\": \"…\"}.";

	private final @Nullable ControlPlane control;

	private final LivePolicies live;

	private final Function<String, @Nullable RolloutState> rollouts;

	private final RecordReader reader;

	private final PolicyContent content;

	private final AdminAccess access;

	PolicyAdmin(@Nullable ControlPlane control, LivePolicies live, Function<String, @Nullable RolloutState> rollouts,
			RecordReader reader, AdminAccess access) {
		this.control = control;
		this.live = live;
		this.rollouts = rollouts;
		this.reader = reader;
		this.content = new PolicyContent(reader);
		this.access = access;
	}

	/**
	 * Each policy in short, whether this instance follows the store, and which versions
	 * are not valid.
	 */
	JsonObject overview() {
		JsonObject shown = new JsonObject().with("policies", PolicyView.inShort(shown(this.live.current())));
		if (this.control != null) {
			ReplicaState state = this.control.state();
			shown.with("stale", state.stale())
				.with("revision", state.revision())
				.with("incident", (state.incident() != null) ? state.incident().text() : null);
		}
		return shown.with("rejected", this.live.rejected().stream().map(PolicyView::of).toList());
	}

	/**
	 * All policies in force, and those whose only version is not valid. A deleted policy
	 * is shown as retired while something in this application names it.
	 */
	public List<Map<String, Object>> list(Fields query, @Nullable Principal principal) {
		this.access.read("policies", principal, query);
		PolicySet policies = this.live.current();
		Set<String> retired = policies.retired();
		Map<String, Rejected> rejected = rejected();
		List<Map<String, Object>> list = new ArrayList<>();
		shown(policies).forEach((policy) -> list.add(describe(policy, retired, rejected.remove(policy.id()))));
		rejected.forEach((id, version) -> list.add(Map.of("id", id, "rejected", PolicyView.of(version))));
		list.sort((one, other) -> String.valueOf(one.get("id")).compareTo(String.valueOf(other.get("id"))));
		return list;
	}

	/** All but those that were deleted and that nothing in this application names. */
	private List<Policy> shown(PolicySet policies) {
		Set<String> retired = policies.retired();
		return policies.policies()
			.stream()
			.filter((policy) -> !retired.contains(policy.id()) || this.control == null
					|| this.control.isNamed(policy.id()))
			.toList();
	}

	/**
	 * A policy with its history, which only the store has, or the {@code version} of it
	 * that the query names.
	 */
	public CompletionStage<Map<String, Object>> show(String id, Fields query, @Nullable Principal principal) {
		Long version = this.access.read("policies", principal, query, "version").version("version");
		return (version != null) ? show(id, version) : show(id);
	}

	private CompletionStage<Map<String, Object>> show(String id) {
		PolicySet policies = this.live.current();
		Policy policy = policies.find(id);
		Rejected rejected = rejected().get(id);
		if (policy == null && rejected == null) {
			throw unknown();
		}
		RolloutState rollout = (policy != null) ? this.rollouts.apply(id) : null;
		JsonObject shown = (policy != null)
				? describe(policy, policies.retired(), rejected).with("policy", this.reader.document(policy))
					.with("inForce", inForce(policy))
					.with("rollout", (rollout != null) ? PolicyView.of(rollout) : null)
				: new JsonObject().with("id", id).with("rejected", PolicyView.of(Objects.requireNonNull(rejected)));
		if (this.control == null) {
			return CompletableFuture.completedStage(shown);
		}
		return this.control.history(RecordIds.policy(id))
			.handle((versions, failure) -> (failure == null)
					? shown.with("history", versions.stream().map(PolicyView::of).toList())
					: shown.with("note", "The store cannot be reached, so there is no history"));
	}

	/**
	 * The versions that decide, if that is not the newest one for all callers: in shadow,
	 * during a rollout, and before a version starts. Otherwise {@code null}.
	 */
	private @Nullable List<Map<String, Object>> inForce(Policy policy) {
		int percent = share(policy);
		if (percent == 100) {
			return null;
		}
		List<Map<String, Object>> versions = new ArrayList<>();
		if (percent > 0) {
			versions
				.add(Map.of("version", policy.version(), "percent", percent, "policy", this.reader.document(policy)));
		}
		RecordVersion newest = (this.control != null) ? this.control.find(RecordIds.policy(policy.id())) : null;
		Map<String, Object> previous = (newest != null && newest.version() == policy.version())
				? ControlPlane.previous(newest) : null;
		if (previous != null) {
			versions.add(new JsonObject().withAll(previous).with("percent", 100 - percent));
		}
		return versions;
	}

	private static int share(Policy policy) {
		Instant validFrom = policy.settings().rollout().validFrom();
		boolean started = validFrom == null || !validFrom.isAfter(Instant.now());
		return (policy.settings().shadow() || !started) ? 0 : policy.settings().rollout().percent();
	}

	private CompletionStage<Map<String, Object>> show(String id, long version) {
		if (!Policy.isId(id)) {
			throw unknown();
		}
		if (this.control == null || version == 0) {
			Policy configured = this.live.configured(id);
			if (version != 0 || configured == null) {
				throw unknown();
			}
			return CompletableFuture
				.completedStage(Map.of("id", id, "version", 0, "policy", this.reader.document(configured)));
		}
		return Failures.translated(this.control.history(RecordIds.policy(id)).thenApply((versions) -> {
			RecordVersion found = versions.stream()
				.filter((candidate) -> candidate.version() == version)
				.findFirst()
				.orElseThrow(() -> unknown());
			return new JsonObject().with("id", id)
				.withAll(PolicyView.of(found))
				.with("policy", found.deleted() ? null : ControlPlane.document(found));
		}));
	}

	/**
	 * Writes a version, or rolls back to one.
	 */
	public CompletionStage<Map<String, Object>> write(String id, Fields body, @Nullable Principal principal) {
		Author author = AdminAccess.author(body, principal);
		String action = body.has("rollback") ? "policy-rollback" : "policy-write";
		return attempt(action, id, body, principal, (control) -> {
			body.only(EXAMPLE, List.of("policy", "rollback", "rollout", "expect", "reason"));
			Long version = body.version("rollback");
			if (version != null && body.has("policy")) {
				throw AdminProblem.invalid("rollback", "A call cannot both write a version and roll back to one",
						"Leave out 'policy' or 'rollback'.");
			}
			if (version == null && body.has("rollout")) {
				throw AdminProblem.invalid("rollout", "Only a call that rolls back has this field",
						"Write the stages of a new version into 'policy.rollout'.");
			}
			ControlPlane.Share share = body.has("rollout") ? body.choice("rollout", ControlPlane.Share.class, null)
					: null;
			return (version != null) ? control.rollBack(id, version, share, body.version("expect"), author)
					: control.writePolicy(id, body.object("policy"), body.version("expect"), author);
		});
	}

	/**
	 * Deletes a policy, so that the one of the configuration is in force again.
	 */
	public CompletionStage<Map<String, Object>> delete(String id, Fields query, @Nullable Principal principal) {
		Author author = AdminAccess.author(query, principal);
		return attempt("policy-delete", id, query, principal, (control) -> {
			query.only("expect", "force", "reason");
			return control.deletePolicy(id, query.version("expect"), query.flag("force"), author);
		});
	}

	private CompletionStage<Map<String, Object>> attempt(String action, String id, Fields fields,
			@Nullable Principal principal, Function<ControlPlane, CompletionStage<RecordVersion>> change) {
		Policy before = this.live.current().find(id);
		String target = Policy.isId(id) ? RecordIds.subject(RecordIds.policy(id)) : "policy";
		return this.access.attempt(action, target, fields, principal, text(before),
				() -> change.apply(AdminAccess.requireStore(this.control))
					.thenApply((written) -> result(before, written,
							new JsonObject().with("id", id)
								.withAll(PolicyView.of(written))
								.with("revision", written.revision())
								.with("warnings", warnings(id, written)))));
	}

	private @Nullable List<String> warnings(String id, RecordVersion written) {
		if (written.deleted()) {
			return null;
		}
		Policy policy = this.reader.stored(id, written.version(), ControlPlane.document(written), (field) -> {
		});
		List<String> warnings = this.reader.warnings(policy);
		return warnings.isEmpty() ? null : warnings;
	}

	private AdminAccess.Result result(@Nullable Policy before, RecordVersion written, Map<String, Object> answer) {
		Policy after = written.deleted() ? this.live.configured(written.key().id())
				: this.reader.stored(written.key().id(), written.version(), ControlPlane.document(written), (field) -> {
				});
		return new AdminAccess.Result(joined(text(before), this.content.differing(before, after)),
				joined(text(written), this.content.differing(after, before)), answer);
	}

	private static String joined(String version, String content) {
		return content.isEmpty() ? version : version + ' ' + content;
	}

	/** A version of the store goes before one of the configuration. */
	private Map<String, Rejected> rejected() {
		return this.live.rejected()
			.stream()
			.filter((rejected) -> rejected.key().kind() == Kind.POLICY)
			.collect(Collectors.toMap((rejected) -> rejected.key().id(), Function.identity(),
					BinaryOperator.maxBy(Comparator.comparingLong(Rejected::version)), HashMap::new));
	}

	private static JsonObject describe(Policy policy, Set<String> retired, @Nullable Rejected rejected) {
		return PolicyView.of(policy)
			.with("retired", retired.contains(policy.id()))
			.with("rejected", (rejected != null) ? PolicyView.of(rejected) : null);
	}

	private static String text(@Nullable Policy policy) {
		return (policy != null) ? "version " + policy.version() : "none";
	}

	private static String text(RecordVersion version) {
		return "version " + version.version() + (version.deleted() ? " (deleted)" : "");
	}

	private static AdminProblem unknown() {
		return AdminProblem.missing("id", "There is no such policy, or it has no such version",
				"Use an id that GET shows under policies.");
	}

}
