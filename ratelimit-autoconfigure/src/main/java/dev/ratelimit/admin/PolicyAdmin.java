package dev.ratelimit.actuate;

import java.security.Principal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
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
import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminChanges;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.AdminQuery;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.ControlProblems;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.Rejected;
import dev.ratelimit.control.RolloutState;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.ReplicaState;

/**
 * Shows policies with their versions and changes them, for those who may and leaving a
 * trail. What a version says is kept with it in the store, so the trail only names
 * versions.
 */
public final class PolicyAdmin {

	static final String EXAMPLE = "Send something like {\"policy\": {\"limits\": {\"per-user\": {\"by\": \"user\", "
			+ "\"quota\": \"100/s\"}}}, \"expect\": 3, \"reason\": \"…\"} or {\"rollback\": 2, \"reason\": \"…\"}.";

	private static final int MAX_ID = 63;

	private final @Nullable ControlPlane control;

	private final LivePolicies live;

	private final Function<String, @Nullable RolloutState> rollouts;

	private final Function<Policy, Map<String, Object>> documents;

	private final AdminChanges changes;

	/**
	 * Creates it.
	 * @param control {@code null} if there is no store
	 * @param rollouts how far a policy is that is not for everybody
	 * @param documents writes a policy in the shape of the configuration
	 */
	public PolicyAdmin(@Nullable ControlPlane control, LivePolicies live,
			Function<String, @Nullable RolloutState> rollouts, Function<Policy, Map<String, Object>> documents,
			AdminCheck check, Audit audit) {
		this.control = control;
		this.live = live;
		this.rollouts = rollouts;
		this.documents = documents;
		this.changes = new AdminChanges(check, audit);
	}

	/**
	 * Adds to the overview how this instance stands to the store, and what was not fit to
	 * be in force.
	 */
	public void describe(Map<String, Object> overview) {
		if (this.control != null) {
			ReplicaState state = this.control.state();
			overview.put("stale", state.stale());
			overview.put("revision", state.revision());
			if (state.incident() != null) {
				overview.put("incident", state.incident().text());
			}
		}
		overview.put("rejected", this.live.rejected().stream().map(PolicyAdmin::describe).toList());
	}

	/**
	 * All policies in force, and those that were never fit to be.
	 */
	List<Map<String, Object>> list() {
		PolicySet policies = this.live.current();
		Set<String> retired = policies.retired();
		Map<String, Rejected> rejected = rejected();
		List<Map<String, Object>> list = new ArrayList<>();
		policies.policies().forEach((policy) -> list.add(describe(policy, retired, rejected.remove(policy.id()))));
		rejected.forEach((id, version) -> list.add(Map.of("id", id, "rejected", describe(version))));
		list.sort((one, other) -> String.valueOf(one.get("id")).compareTo(String.valueOf(other.get("id"))));
		return list;
	}

	/**
	 * One policy with its history, which only the store has. Fails with an
	 * {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> show(String id) {
		PolicySet policies = this.live.current();
		Policy policy = policies.find(id);
		Rejected rejected = rejected().get(id);
		if (policy == null && rejected == null) {
			return CompletableFuture.failedStage(unknown());
		}
		Map<String, Object> shown = (policy != null) ? describe(policy, policies.retired(), rejected)
				: new LinkedHashMap<>(Map.of("id", id, "rejected", describe(Objects.requireNonNull(rejected))));
		if (policy != null) {
			shown.put("policy", this.documents.apply(policy));
			RolloutState rollout = this.rollouts.apply(id);
			if (rollout != null) {
				shown.put("rollout", RolloutView.of(rollout));
			}
		}
		if (this.control == null) {
			return CompletableFuture.completedStage(shown);
		}
		return this.control.history(RecordIds.policy(id)).handle((versions, failure) -> {
			if (failure == null) {
				shown.put("history", versions.stream().map(PolicyAdmin::describe).toList());
			}
			else {
				shown.put("note", "The store cannot be reached, so there is no history");
			}
			return shown;
		});
	}

	/**
	 * One version of a policy. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> show(String id, long version) {
		if (id.length() > MAX_ID) {
			return CompletableFuture.failedStage(unknown());
		}
		if (this.control == null || version == 0) {
			Policy configured = this.live.configured(id);
			if (version != 0 || configured == null) {
				return CompletableFuture.failedStage(unknown());
			}
			return CompletableFuture
				.completedStage(Map.of("id", id, "version", 0, "policy", this.documents.apply(configured)));
		}
		return ControlProblems.translated(this.control.history(RecordIds.policy(id)).thenApply((versions) -> {
			RecordVersion found = versions.stream()
				.filter((candidate) -> candidate.version() == version)
				.findFirst()
				.orElseThrow(() -> unknown());
			Map<String, Object> shown = new LinkedHashMap<>(Map.of("id", id));
			shown.putAll(describe(found));
			if (!found.deleted()) {
				shown.put("policy", ControlPlane.document(found));
			}
			return shown;
		}));
	}

	/**
	 * Writes a version, or brings one back. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> write(String id, AdminBody body, @Nullable Principal principal) {
		Author author = author(body.reason(), principal);
		String action = body.has("rollback") ? "policy-rollback" : "policy-write";
		return attempt(action, id, author, principal, (control) -> {
			body.requireOnly(EXAMPLE, List.of("policy", "rollback", "expect", "reason"));
			Long version = body.version("rollback");
			if (version != null && body.has("policy")) {
				throw AdminProblem.invalid("rollback", "A version is either written or brought back",
						"Leave out 'policy' or 'rollback'.");
			}
			return (version != null) ? control.rollBack(id, version, body.version("expect"), author)
					: control.writePolicy(id, body.object("policy"), body.version("expect"), author);
		});
	}

	/**
	 * Goes back to the configuration. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> delete(String id, Map<String, String> parameters,
			@Nullable Principal principal) {
		Author author = author(AdminQuery.reason(parameters), principal);
		return attempt("policy-delete", id, author, principal, (control) -> {
			AdminQuery query = AdminQuery.of(parameters, "expect", "force", "reason");
			return control.deletePolicy(id, query.version("expect"), query.flag("force"), author);
		});
	}

	private CompletionStage<Map<String, Object>> attempt(String action, String id, Author author,
			@Nullable Principal principal, Function<ControlPlane, CompletionStage<RecordVersion>> change) {
		String before = text(this.live.current().find(id));
		return this.changes.attempt(action, id, author.reason(), principal, before,
				() -> ControlProblems.translated(change.apply(ControlProblems.require(this.control)))
					.thenApply((written) -> new AdminChanges.Result(before, text(written), answer(id, written))));
	}

	/** Of the store and the configuration the one that would stand before the other. */
	private Map<String, Rejected> rejected() {
		return this.live.rejected()
			.stream()
			.filter((rejected) -> rejected.key().kind() == Kind.POLICY)
			.collect(Collectors.toMap((rejected) -> rejected.key().id(), Function.identity(),
					BinaryOperator.maxBy(Comparator.comparingLong(Rejected::version)), HashMap::new));
	}

	static Author author(String reason, @Nullable Principal principal) {
		return new Author(AdminChanges.actor(principal), reason);
	}

	static Map<String, Object> describe(RecordVersion version) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("version", version.version());
		described.put("actor", version.actor());
		described.put("time", version.time().toString());
		described.put("reason", version.reason());
		described.put("deleted", version.deleted());
		return described;
	}

	private static Map<String, Object> answer(String id, RecordVersion written) {
		Map<String, Object> answer = new LinkedHashMap<>(Map.of("id", id));
		answer.putAll(describe(written));
		answer.put("revision", written.revision());
		return answer;
	}

	private static Map<String, Object> describe(Policy policy, Set<String> retired, @Nullable Rejected rejected) {
		Map<String, Object> described = Overview.describe(policy);
		described.put("retired", retired.contains(policy.id()));
		if (rejected != null) {
			described.put("rejected", describe(rejected));
		}
		return described;
	}

	private static Map<String, Object> describe(Rejected rejected) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("kind", rejected.key().kind().text());
		described.put("id", RecordIds.today(rejected.key()).id());
		described.put("version", rejected.version());
		described.put("message", rejected.message());
		return described;
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
