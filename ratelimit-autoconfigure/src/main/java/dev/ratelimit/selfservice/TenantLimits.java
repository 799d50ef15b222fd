package dev.ratelimit.selfservice;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminAccess;
import dev.ratelimit.admin.UsageView;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.Change;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

/**
 * The limits that operators grant a tenant, and the tighter ones that the tenant gives
 * itself. The tenant's own are separate records, so that neither overwrites the other.
 */
final class TenantLimits {

	private static final String LIMITS = "limits";

	private final Supplier<PolicySet> policies;

	private final @Nullable ControlPlane control;

	private final RecordReader reader;

	TenantLimits(Supplier<PolicySet> policies, @Nullable ControlPlane control, RecordReader reader) {
		this.policies = policies;
		this.control = control;
		this.reader = reader;
	}

	/**
	 * The granted quotas by the name of the limit, of the limits that count by tenant
	 * alone; {@code null} if there is no such policy.
	 * @param request of the tenant
	 */
	@Nullable Map<String, List<Quota>> granted(Request request) {
		Match match = this.policies.get().granted(request.withCost(0));
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

	/**
	 * The quotas that a tenant has given itself.
	 */
	CompletionStage<Own> own(String policy, String tenant) {
		return control().history(RecordIds.tightening(policy, tenant)).thenApply((versions) -> {
			RecordVersion newest = versions.isEmpty() ? null : versions.get(0);
			if (newest == null || newest.deleted()) {
				return new Own((newest != null) ? newest.version() : 0, Map.of(), Map.of());
			}
			Map<String, Object> others = new LinkedHashMap<>(ControlPlane.body(newest));
			Object limits = others.remove(LIMITS);
			return new Own(newest.version(), (limits != null) ? this.reader.override(Map.of(LIMITS, limits)) : Map.of(),
					others);
		});
	}

	/**
	 * Replaces the quotas that a tenant has given itself. Without any, the tenant has the
	 * granted ones.
	 * @param own with the version that was read; fails with a
	 * {@link dev.ratelimit.store.ConflictException} if there is a newer one
	 */
	CompletionStage<RecordVersion> write(String policy, String tenant, Own own, Author author) {
		RecordKey key = RecordIds.tightening(policy, tenant);
		Map<String, Object> document = own.limits().isEmpty() ? null : Map.of(LIMITS, texts(own.limits()));
		return control().write(new Change(key, document, own.version()), own.others(), author);
	}

	static Map<String, Object> texts(Map<String, List<Quota>> limits) {
		Map<String, Object> texts = new LinkedHashMap<>();
		limits.forEach((limit, quotas) -> texts.put(limit, UsageView.names(quotas)));
		return texts;
	}

	private ControlPlane control() {
		return AdminAccess.requireStore(this.control);
	}

	/**
	 * The quotas that a tenant has given itself.
	 *
	 * @param version of the record, 0 if there never was one
	 * @param limits quotas by the name of the limit
	 * @param others fields of the record that a newer release wrote; they stay in it
	 */
	record Own(long version, Map<String, List<Quota>> limits, Map<String, Object> others) {

		Own with(Map<String, List<Quota>> limits) {
			return new Own(this.version, limits, this.others);
		}

	}

}
