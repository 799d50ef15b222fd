package dev.ratelimit.admin;

import java.security.Principal;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.limiter.CallerUsage;
import dev.ratelimit.limiter.LimitUsage;
import dev.ratelimit.policy.PolicySet;

/**
 * Shows the usage of a caller, named as in {@code policy=orders&tenant=acme}, and resets
 * it. The audit trail shows counters by their keys, which do not reveal the caller.
 */
public final class UsageAdmin {

	private static final List<String> FIELDS = List.of("policy", "limit", "tier", "reason");

	private final Supplier<PolicySet> policies;

	private final Supplier<CallerUsage> usage;

	private final AdminAccess access;

	private final UsageView view;

	UsageAdmin(Supplier<PolicySet> policies, Supplier<CallerUsage> usage, AdminAccess access, Clock clock) {
		this.policies = policies;
		this.usage = usage;
		this.access = access;
		this.view = new UsageView(clock);
	}

	public CompletionStage<Map<String, Object>> show(Fields query, @Nullable Principal principal) {
		this.access.requireRead("usage", principal);
		Caller caller = caller(query);
		CallerUsage usage = this.usage.get();
		CallerUsage.Found found = find(usage, caller);
		return usage.read(found, caller.request()).thenApply((usages) -> answer(found, usages));
	}

	public CompletionStage<Map<String, Object>> reset(Fields query, @Nullable Principal principal) {
		return this.access.attempt("usage-reset", CallerFields.target(query, FIELDS), query, principal, "", () -> {
			Caller caller = caller(query);
			CallerUsage usage = this.usage.get();
			CallerUsage.Found found = find(usage, caller);
			return usage.reset(found, caller.request()).handle((done, failure) -> {
				if (failure != null) {
					throw AdminProblem.unavailable(
							"Redis did not answer, and some counters may not be reset; try again when it answers");
				}
				return new AdminAccess.Result("", "reset " + keys(found),
						new JsonObject().with("policy", found.match().policy().id())
							.with("reset", List.copyOf(found.limits()))
							.with("missing", missing(found)));
			});
		});
	}

	private Caller caller(Fields query) {
		PolicySet policies = this.policies.get();
		query.requireReadable("");
		Policy policy = CallerFields.policy(query, policies);
		// A tier or an override may depend on more dimensions than the limits count by.
		Set<String> dimensions = CallerFields.dimensions(List.of(policy));
		policies.listedDimensions().forEach((dimension) -> dimensions.add(dimension.name()));
		policy.settings()
			.overrides()
			.forEach((override) -> override.when().keySet().forEach((dimension) -> dimensions.add(dimension.name())));
		List<String> names = new ArrayList<>(FIELDS);
		names.addAll(dimensions);
		query.only("", names);
		Request request = CallerFields.request(policy, CallerFields.values(query, dimensions));
		if (query.has("tier")) {
			request = request.withTier(query.text("tier", ""));
		}
		return new Caller(request, CallerFields.limit(query, policy));
	}

	private static CallerUsage.Found find(CallerUsage usage, Caller caller) {
		CallerUsage.Found found = usage.find(caller.request(),
				(limit) -> caller.limit() == null || caller.limit().name().equals(limit.name()));
		if (found == null) {
			throw AdminProblem.missing("policy", "There is no such policy",
					"Use one of those that GET policies lists.");
		}
		if (found.counters().isEmpty()) {
			String needed = found.missing()
				.entrySet()
				.stream()
				.map((limit) -> limit.getKey() + " needs " + String.join(" and ", UsageView.names(limit.getValue())))
				.collect(Collectors.joining(", "));
			List<Dimension> first = found.missing().values().iterator().next();
			throw AdminProblem.invalid(first.get(0).name(), "Every limit needs more values of the caller",
					"Add values: " + needed + ".");
		}
		return found;
	}

	private Map<String, Object> answer(CallerUsage.Found found, List<LimitUsage> usages) {
		if (usages.stream().noneMatch(LimitUsage::answered)) {
			throw AdminProblem.unavailable("Redis does not answer, so the counters cannot be read");
		}
		return new JsonObject().with("policy", found.match().policy().id())
			.with("version", found.match().policy().version())
			.with("algorithm", found.match().policy().algorithm().text())
			.with("limits", usages.stream().map((usage) -> this.view.describe(usage).with("key", usage.key())).toList())
			.with("missing", missing(found));
	}

	private static @Nullable Map<String, Object> missing(CallerUsage.Found found) {
		JsonObject missing = new JsonObject();
		found.missing().forEach((limit, dimensions) -> missing.put(limit, UsageView.names(dimensions)));
		return missing.isEmpty() ? null : missing;
	}

	private static String keys(CallerUsage.Found found) {
		return found.counters()
			.stream()
			.map((Counter counter) -> counter.spec().limit().name() + " " + counter.key())
			.collect(Collectors.joining(", "));
	}

	/** The caller that a call is about, and its limit if it names one. */
	private record Caller(Request request, @Nullable Limit limit) {
	}

}
