package dev.ratelimit.selfservice;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.ForcedMode;
import dev.ratelimit.Quota;
import dev.ratelimit.admin.AdminBody;
import dev.ratelimit.admin.AdminProblem;

/**
 * Reads {@code {"policy": "orders", "limits": {"per-tenant": "500/s"}, "reason": "…"}}.
 * With {@code null} for a limit the tenant lets go of what it has said about it.
 *
 * @param policy id of the policy
 * @param limits quotas by the name of the limit, empty to let go
 */
record TenantRequest(String policy, Map<String, List<Quota>> limits) {

	static final String EXAMPLE = "Send something like {\"policy\": \"orders\", \"limits\": {\"per-tenant\": \"500/s\"}, "
			+ "\"reason\": \"…\"}.";

	private static final List<String> FIELDS = List.of("policy", "limits", "reason");

	static TenantRequest parse(AdminBody body) {
		body.requireOnly(EXAMPLE, FIELDS);
		if (!(body.get("policy") instanceof String policy)) {
			throw AdminProblem.invalid("policy", "The policy is missing", EXAMPLE);
		}
		if (!(body.get("limits") instanceof Map<?, ?> limits) || limits.isEmpty()) {
			throw AdminProblem.invalid("limits", "The limits are missing", EXAMPLE);
		}
		Map<String, List<Quota>> quotas = new LinkedHashMap<>();
		limits.forEach((limit, value) -> quotas.put(String.valueOf(limit), quotas(String.valueOf(limit), value)));
		return new TenantRequest(policy, quotas);
	}

	/**
	 * Checks that nothing is wished for that operators do not grant.
	 */
	void requireWithin(Map<String, List<Quota>> granted) {
		this.limits.forEach((limit, quotas) -> {
			List<Quota> most = granted.get(limit);
			if (most == null) {
				throw AdminProblem.invalid(field(limit), "The policy has no such limit that counts by tenant alone",
						granted.isEmpty() ? "There is none under this policy."
								: "Use one of: " + String.join(", ", granted.keySet()) + ".");
			}
			quotas.forEach((quota) -> requireWithin(limit, quota, most));
		});
	}

	private static void requireWithin(String limit, Quota quota, List<Quota> granted) {
		Quota most = granted.stream()
			.filter((candidate) -> candidate.window().equals(quota.window()))
			.findFirst()
			.orElseThrow(() -> AdminProblem.invalid(field(limit), "The limit has no quota for this window",
					"Change one of: " + granted.stream().map(Quota::toString).toList() + "."));
		if (quota.permits() > most.permits() || quota.burst() > most.burst()) {
			throw AdminProblem.forbidden("Limit '" + limit + "' can be at most " + most + " for this tenant, not "
					+ quota + "; more than that is for operators to give");
		}
	}

	private static List<Quota> quotas(String limit, @Nullable Object value) {
		if (value == null) {
			return List.of();
		}
		Collection<?> texts = (value instanceof Collection<?> several) ? several : List.of(value);
		try {
			return texts.stream().map((text) -> Quota.parse(ForcedMode.printable(String.valueOf(text)))).toList();
		}
		catch (IllegalArgumentException ex) {
			throw AdminProblem.invalid(field(limit), String.valueOf(ex.getMessage()),
					"Use a quota such as 500/s or [\"500/s\", \"10000/h\"], or null to let go of it.");
		}
	}

	private static String field(String limit) {
		return "limits." + ForcedMode.printable(limit);
	}

}
