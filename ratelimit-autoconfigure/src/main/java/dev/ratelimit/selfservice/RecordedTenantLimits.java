package dev.ratelimit.selfservice;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

/**
 * Keeps what tenants give themselves as records, next to those of operators.
 */
public final class RecordedTenantLimits implements TenantLimits {

	private static final String NOWHERE = "There is no store that limits could be kept in; set "
			+ "ratelimit.policies-store.type to redis or r2dbc";

	private final Supplier<PolicySet> policies;

	private final Supplier<@Nullable ControlPlane> plane;

	/**
	 * Creates it.
	 * @param plane {@code null} if nothing can be written at run time
	 */
	public RecordedTenantLimits(Supplier<PolicySet> policies, Supplier<@Nullable ControlPlane> plane) {
		this.policies = policies;
		this.plane = plane;
	}

	@Override
	public @Nullable Map<String, List<Quota>> granted(String policy, String tenant, @Nullable String tier) {
		Match match = this.policies.get()
			.granted(Request.of(policy).with(Dimension.TENANT, tenant).withTier(tier).withCost(0));
		if (match == null) {
			return null;
		}
		Map<String, List<Quota>> granted = new LinkedHashMap<>();
		for (CounterSpec spec : match.specs()) {
			if (TenantAdmin.isTenants(spec.limit())) {
				granted.put(spec.limit().name(), spec.limit().quotas());
			}
		}
		return granted;
	}

	@Override
	public CompletionStage<Own> own(String policy, String tenant) {
		ControlPlane plane = this.plane.get();
		if (plane == null) {
			return CompletableFuture.failedStage(AdminProblem.unavailable(NOWHERE));
		}
		return plane.history(RecordIds.tightening(policy, tenant)).thenApply((versions) -> {
			RecordVersion newest = versions.isEmpty() ? null : versions.get(0);
			return (newest == null) ? new Own(0, Map.of())
					: new Own(newest.version(), newest.deleted() ? Map.of() : limits(ControlPlane.body(newest)));
		});
	}

	@Override
	public CompletionStage<Void> write(String policy, String tenant, Own own, String actor, String reason) {
		ControlPlane plane = this.plane.get();
		if (plane == null) {
			return CompletableFuture.failedStage(AdminProblem.unavailable(NOWHERE));
		}
		RecordKey key = RecordIds.tightening(policy, tenant);
		Map<String, Object> limits = new LinkedHashMap<>();
		own.limits().forEach((limit, quotas) -> limits.put(limit, quotas.stream().map(Quota::toString).toList()));
		Map<String, Object> document = limits.isEmpty() ? null : Map.of("limits", limits);
		return plane.write(new Change(key, document, own.version()), new Author(actor, reason))
			.thenApply((version) -> null);
	}

	private static Map<String, List<Quota>> limits(Map<String, Object> document) {
		Map<String, List<Quota>> limits = new LinkedHashMap<>();
		if (document.get("limits") instanceof Map<?, ?> known) {
			known.forEach((limit, quotas) -> limits.put(String.valueOf(limit), quotas(quotas)));
		}
		return limits;
	}

	private static List<Quota> quotas(@Nullable Object quotas) {
		Collection<?> texts = (quotas instanceof Collection<?> several) ? several : List.of(String.valueOf(quotas));
		return texts.stream().map((text) -> Quota.parse(String.valueOf(text))).toList();
	}

}
