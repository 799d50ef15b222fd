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

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminAccess;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.AuthorityCheck;
import dev.ratelimit.admin.Fields;
import dev.ratelimit.admin.RecordNames;
import dev.ratelimit.admin.UsageView;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.json.JsonObject;
import dev.ratelimit.limiter.CallerUsage;
import dev.ratelimit.limiter.LimitUsage;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.VerifiedTenant;

/**
 * Shows the usage of a tenant to its administrators, and lets them tighten its limits.
 * Only the verified token names the tenant, and no call can raise a limit.
 */
final class TenantAdmin {

	/** Policies in one answer, so that no call keeps Redis busy. */
	private static final int PAGE = 100;

	private final Supplier<PolicySet> policies;

	private final Supplier<CallerUsage> usage;

	private final TenantLimits limits;

	private final Function<@Nullable Principal, @Nullable VerifiedTenant> tenants;

	private final String authority;

	private final RecordNames names;

	private final AdminCheck check;

	private final AdminAccess access;

	private final UsageView view;

	private final TenantCalls calls = new TenantCalls(System::nanoTime);

	/**
	 * @param tenants the tenant of a token
	 * @param authority of those who administrate a tenant
	 */
	TenantAdmin(Supplier<PolicySet> policies, Supplier<CallerUsage> usage, TenantLimits limits,
			Function<@Nullable Principal, @Nullable VerifiedTenant> tenants, String authority, RecordNames names,
			Audit audit, Clock clock) {
		this.policies = policies;
		this.usage = usage;
		this.limits = limits;
		this.tenants = tenants;
		this.authority = authority;
		this.names = names;
		this.check = new AuthorityCheck(authority);
		// The check is made below, with answers that a tenant understands.
		this.access = new AdminAccess(AdminCheck.ANYBODY, audit);
		this.view = new UsageView(clock);
	}

	static boolean isTenants(Limit limit) {
		return limit.by().equals(List.of(Dimension.TENANT));
	}

	/**
	 * The tenant's usage under the policies that count by tenant.
	 * @param query {@code after}: the last policy of the previous page
	 */
	CompletionStage<Map<String, Object>> show(Fields query, @Nullable Principal principal) {
		VerifiedTenant tenant = tenant(principal);
		this.calls.require(tenant.tenant());
		String after = query.only("after").text("after", "");
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
		return all.thenApply((described) -> new JsonObject().with("tenant", tenant.tenant())
			.with("policies", described)
			.with("after", (ids.size() > PAGE) ? ids.get(PAGE - 1) : null));
	}

	/**
	 * Tightens limits.
	 */
	CompletionStage<Map<String, Object>> change(Fields body, @Nullable Principal principal) {
		if (principal == null) {
			// Not recorded: strangers could fill the trail.
			return CompletableFuture.failedStage(AdminProblem.unauthenticated());
		}
		return this.access.attempt(Audit.TENANT + "limits", target(body, principal), body, principal, "", () -> {
			VerifiedTenant tenant = tenant(principal);
			this.calls.require(tenant.tenant());
			TenantRequest wished = TenantRequest.parse(body);
			Map<String, List<Quota>> granted = this.limits.granted(request(wished.policy(), tenant));
			if (granted == null) {
				throw AdminProblem.invalid("policy", "There is no such policy",
						"Use one of those that GET /ratelimit/tenants/me/usage lists.");
			}
			wished.requireWithin(granted);
			return change(wished, granted, tenant.tenant(), AdminAccess.author(body, principal));
		});
	}

	private CompletionStage<AdminAccess.Result> change(TenantRequest wished, Map<String, List<Quota>> granted,
			String tenant, Author author) {
		return this.limits.own(wished.policy(), tenant).thenCompose((before) -> {
			Map<String, List<Quota>> own = new LinkedHashMap<>(before.limits());
			own.putAll(wished.limits());
			own.values().removeIf(List::isEmpty);
			// A limit that the policy no longer has would make the whole write fail.
			own.keySet().retainAll(granted.keySet());
			AdminAccess.Result result = new AdminAccess.Result(TenantLimits.texts(before.limits()).toString(),
					TenantLimits.texts(own).toString(),
					new JsonObject().with("policy", wished.policy())
						.with("granted", TenantLimits.texts(granted))
						.with("own", TenantLimits.texts(own)));
			return own.equals(before.limits()) ? CompletableFuture.completedStage(result)
					: this.limits.write(wished.policy(), tenant, before.with(own), author).thenApply((done) -> result);
		});
	}

	private CompletionStage<Map<String, Object>> show(String policy, VerifiedTenant tenant) {
		Request request = request(policy, tenant);
		CallerUsage usage = this.usage.get();
		CallerUsage.Found found = usage.find(request, TenantAdmin::isTenants);
		Map<String, List<Quota>> known = this.limits.granted(request);
		Map<String, List<Quota>> granted = (known != null) ? known : Map.of();
		CompletionStage<List<LimitUsage>> usages = (found != null) ? usage.read(found, request)
				: CompletableFuture.completedStage(List.of());
		return usages
			.thenApply((limits) -> new JsonObject().with("policy", policy)
				.with("limits", limits.stream()
					.map((limit) -> this.view.describe(limit)
						.with("granted", UsageView.names(granted.getOrDefault(limit.limit().name(), List.of()))))
					.toList()));
	}

	private static Request request(String policy, VerifiedTenant tenant) {
		return Request.of(policy).with(Dimension.TENANT, tenant.tenant()).withTier(tenant.tier());
	}

	private VerifiedTenant tenant(@Nullable Principal principal) {
		if (principal == null) {
			throw AdminProblem.unauthenticated();
		}
		VerifiedTenant tenant = this.tenants.apply(principal);
		if (tenant == null) {
			throw AdminProblem.forbidden("No token and no resolver names the tenant");
		}
		if (!tenant.roles().contains(this.authority) && !this.check.mayWrite(principal)) {
			throw AdminProblem.forbidden("Only administrators of the tenant may call this");
		}
		return tenant;
	}

	/** The record that holds what a tenant gives itself, also if the attempt fails. */
	private String target(Fields body, Principal principal) {
		if (!(body.value("policy") instanceof String id) || !Policy.isId(id)) {
			return "";
		}
		VerifiedTenant tenant = this.tenants.apply(principal);
		return this.names.of((tenant != null) ? RecordIds.tightening(id, tenant.tenant()) : RecordIds.policy(id));
	}

}
