package dev.ratelimit.actuate;

import java.security.Principal;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.admin.AdminChanges;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.AdminQuery;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.UsageView;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.limiter.CallerUsage;
import dev.ratelimit.limiter.LimitUsage;
import dev.ratelimit.policy.PolicySet;

/**
 * Shows what a caller has used and resets it, for those who may and leaving a trail, in
 * which counters go by their keys: whose they are cannot be read there.
 */
public final class UsageAdmin {

	private final Supplier<PolicySet> policies;

	private final Supplier<CallerUsage> usage;

	private final AdminChanges changes;

	private final UsageView view;

	public UsageAdmin(Supplier<PolicySet> policies, Supplier<CallerUsage> usage, AdminCheck check, Audit audit,
			Clock clock) {
		this.policies = policies;
		this.usage = usage;
		this.changes = new AdminChanges(check, audit);
		this.view = new UsageView(clock);
	}

	/**
	 * What a caller has used. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> show(Map<String, String> parameters) {
		try {
			UsageRequest wished = UsageRequest.parse(parameters, this.policies.get());
			CallerUsage usage = this.usage.get();
			CallerUsage.Found found = find(usage, wished);
			return usage.look(found, wished.request()).thenApply((usages) -> answer(found, usages));
		}
		catch (AdminProblem ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/**
	 * Forgets it. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> reset(Map<String, String> parameters, @Nullable Principal principal) {
		String reason = AdminQuery.reason(parameters);
		return this.changes.attempt("usage-reset", target(parameters), reason, principal, "", () -> {
			UsageRequest wished = UsageRequest.parse(parameters, this.policies.get());
			CallerUsage usage = this.usage.get();
			CallerUsage.Found found = find(usage, wished);
			return usage.reset(found, wished.request()).handle((done, failure) -> {
				if (failure != null) {
					throw AdminProblem.unavailable("Not all counters could be reset; do it again when Redis answers");
				}
				return new AdminChanges.Result("", "reset " + keys(found), resetAnswer(found));
			});
		});
	}

	private static CallerUsage.Found find(CallerUsage usage, UsageRequest wished) {
		CallerUsage.Found found = usage.find(wished.request(), wished::means);
		if (found == null) {
			throw AdminProblem.missing("policy", "There is no such policy",
					"Use one of those that GET policies lists.");
		}
		if (found.counters().isEmpty()) {
			String needed = found.missing()
				.entrySet()
				.stream()
				.map((limit) -> limit.getKey() + " needs " + names(limit.getValue()))
				.collect(Collectors.joining(", "));
			List<Dimension> first = found.missing().values().iterator().next();
			throw AdminProblem.invalid(first.get(0).name(),
					"What is known about the caller is not enough for any limit", "Add values: " + needed + ".");
		}
		return found;
	}

	private Map<String, Object> answer(CallerUsage.Found found, List<LimitUsage> usages) {
		if (usages.stream().noneMatch(LimitUsage::answered)) {
			throw AdminProblem.unavailable("The counters do not answer");
		}
		Map<String, Object> answer = new LinkedHashMap<>();
		answer.put("policy", found.match().policy().id());
		answer.put("version", found.match().policy().version());
		answer.put("algorithm", found.match().policy().algorithm().text());
		answer.put("limits", usages.stream().map((usage) -> {
			Map<String, Object> described = this.view.describe(usage);
			described.put("key", usage.key());
			return described;
		}).toList());
		putMissing(answer, found);
		return answer;
	}

	private static Map<String, Object> resetAnswer(CallerUsage.Found found) {
		Map<String, Object> answer = new LinkedHashMap<>();
		answer.put("policy", found.match().policy().id());
		answer.put("reset", List.copyOf(found.limits()));
		putMissing(answer, found);
		return answer;
	}

	private static void putMissing(Map<String, Object> answer, CallerUsage.Found found) {
		if (!found.missing().isEmpty()) {
			Map<String, Object> missing = new LinkedHashMap<>();
			found.missing().forEach((limit, dimensions) -> missing.put(limit, UsageView.names(dimensions)));
			answer.put("missing", missing);
		}
	}

	/** The policy and what the caller was named by, never the values. */
	private static String target(Map<String, String> parameters) {
		String by = parameters.keySet()
			.stream()
			.filter((name) -> !UsageRequest.FIELDS.contains(name))
			.sorted()
			.collect(Collectors.joining(", "));
		return parameters.getOrDefault("policy", "") + " by " + by;
	}

	private static String keys(CallerUsage.Found found) {
		return found.counters()
			.stream()
			.map((Counter counter) -> counter.spec().limit().name() + " " + counter.key())
			.collect(Collectors.joining(", "));
	}

	private static String names(List<Dimension> dimensions) {
		return String.join(" and ", UsageView.names(dimensions));
	}

}
