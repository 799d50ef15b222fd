package dev.ratelimit.selfservice;

import java.security.Principal;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminChanges;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.AdminQuery;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.ControlProblems;
import dev.ratelimit.admin.UsageView;
import dev.ratelimit.limiter.CallerUsage;
import dev.ratelimit.limiter.LimitUsage;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.VerifiedTenant;

/**
 * Lets a tenant's administrator look at what the tenant has used and tighten its limits.
 * Whose they are is said by the verified token alone, and no call can raise anything.
 */
public final class TenantAdmin {

	/** How many policies one answer is about, so that none keeps Redis busy. */
	private static final int PAGE = 100;

	private final Supplier<PolicySet> policies;

	private final Supplier<CallerUsage> usage;

	private final TenantLimits limits;

	private final Function<@Nullable Principal, @Nullable VerifiedTenant> tenants;

	private final AdminCheck check;

	private final AdminChanges changes;

	private final UsageView view;

	private final TenantCalls calls = new TenantCalls(System::nanoTime);

	/**
	 * Creates it.
	 * @param tenants whom a token speaks for
	 * @param check whether somebody administrates a tenant
	 */
	public TenantAdmin(Supplier<PolicySet> policies, Supplier<CallerUsage> usage, TenantLimits limits,
			Function<@Nullable Principal, @Nullable VerifiedTenant> tenants, AdminCheck check, Audit audit,
			Clock clock) {
		this.policies = policies;
		this.usage = usage;
		this.limits = limits;
		this.tenants = tenants;
		this.check = check;
		// Who may is found out below, with answers that a tenant understands.
		this.changes = new AdminChanges(AdminCheck.ANYBODY, audit);
		this.view = new UsageView(clock);
	}

	static boolean isTenants(Limit limit) {
		return limit.by().equals(List.of(Dimension.TENANT));
	}

	/**
	 * What the tenant has used under the policies that count by tenant. Fails with an
	 * {@link AdminProblem}.
	 * @param query {@code after} which policy, if not the first are wanted
	 */
	CompletionStage<Map<String, Object>> show(@Nullable Principal principal, Map<String, String> query) {
		try {
			VerifiedTenant tenant = tenant(principal);
			this.calls.require(tenant.tenant());
			String after = AdminQuery.of(query, "after").text("after");
			List<String> ids = this.policies.get()
				.policies()
				.stream()
				.filter((policy) -> policy.limits().stream().anyMatch(TenantAdmin::isTenants))
				.map(Policy::id)
				.filter((id) -> id.compareTo(after) > 0)
				.sorted()
				.limit(PAGE + 1)
				.toList();
			CompletionStage<List<Map<String, Object>>> all = CompletableFuture.completedStage(new ArrayList<>());
			for (String id : ids.subList(0, Math.min(PAGE, ids.size()))) {
				all = all.thenCombine(show(id, tenant), (described, policy) -> {
					described.add(policy);
					return described;
				});
			}
			return all.thenApply((described) -> {
				Map<String, Object> answer = new LinkedHashMap<>();
				answer.put("tenant", tenant.tenant());
				answer.put("policies", described);
				if (ids.size() > PAGE) {
					answer.put("after", ids.get(PAGE - 1));
				}
				return answer;
			});
		}
		catch (AdminProblem ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/**
	 * Tightens limits. Fails with an {@link AdminProblem}.
	 */
	CompletionStage<Map<String, Object>> change(AdminBody body, @Nullable Principal principal) {
		if (principal == null) {
			// Not in the trail, which strangers could fill.
			return CompletableFuture.failedStage(AdminProblem.unauthenticated());
		}
		String reason = body.reason();
		return this.changes.attempt(Audit.TENANT + "limits", target(body), reason, principal, "", () -> {
			VerifiedTenant tenant = tenant(principal);
			this.calls.require(tenant.tenant());
			TenantRequest wished = TenantRequest.parse(body);
			Map<String, List<Quota>> granted = this.limits.granted(wished.policy(), tenant.tenant(), tenant.tier());
			if (granted == null) {
				throw AdminProblem.invalid("policy", "There is no such policy",
						"Use one of those that GET /ratelimit/tenants/me/usage lists.");
			}
			wished.requireWithin(granted);
			return ControlProblems
				.translated(change(wished, granted, tenant.tenant(), AdminChanges.actor(principal), reason));
		});
	}

	private CompletionStage<AdminChanges.Result> change(TenantRequest wished, Map<String, List<Quota>> granted,
			String tenant, String actor, String reason) {
		return this.limits.own(wished.policy(), tenant).thenCompose((before) -> {
			Map<String, List<Quota>> own = new LinkedHashMap<>(before.limits());
			own.putAll(wished.limits());
			own.values().removeIf(List::isEmpty);
			// What the policy does not have any more would keep the rest from being
			// written.
			own.keySet().retainAll(granted.keySet());
			Map<String, Object> answer = new LinkedHashMap<>();
			answer.put("policy", wished.policy());
			answer.put("granted", texts(granted));
			answer.put("own", texts(own));
			AdminChanges.Result result = new AdminChanges.Result(texts(before.limits()).toString(),
					texts(own).toString(), answer);
			return own.equals(before.limits()) ? CompletableFuture.completedStage(result)
					: this.limits
						.write(wished.policy(), tenant, new TenantLimits.Own(before.version(), own), actor, reason)
						.thenApply((done) -> result);
		});
	}

	private CompletionStage<Map<String, Object>> show(String policy, VerifiedTenant tenant) {
		Request request = Request.of(policy).with(Dimension.TENANT, tenant.tenant()).withTier(tenant.tier());
		CallerUsage usage = this.usage.get();
		CallerUsage.Found found = usage.find(request, TenantAdmin::isTenants);
		Map<String, List<Quota>> granted = this.limits.granted(policy, tenant.tenant(), tenant.tier());
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("policy", policy);
		CompletionStage<List<LimitUsage>> usages = (found != null) ? usage.look(found, request)
				: CompletableFuture.completedStage(List.of());
		return usages.thenApply((limits) -> {
			described.put("limits", limits.stream().map((limit) -> {
				Map<String, Object> shown = this.view.describe(limit);
				shown.put("granted", UsageView
					.names((granted != null) ? granted.getOrDefault(limit.limit().name(), List.of()) : List.of()));
				return shown;
			}).toList());
			return described;
		});
	}

	private VerifiedTenant tenant(@Nullable Principal principal) {
		if (principal == null) {
			throw AdminProblem.unauthenticated();
		}
		VerifiedTenant tenant = this.tenants.apply(principal);
		if (tenant == null) {
			throw AdminProblem.forbidden("The token names no tenant");
		}
		if (!this.check.mayWrite(principal)) {
			throw AdminProblem.forbidden("This is for administrators of the tenant");
		}
		return tenant;
	}

	private static String target(AdminBody body) {
		return (body.get("policy") instanceof String id) ? id + " by tenant" : "";
	}

	private static Map<String, Object> texts(Map<String, List<Quota>> limits) {
		return limits.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (limit) -> UsageView.names(limit.getValue()),
					(first, second) -> second, LinkedHashMap::new));
	}

}
