package dev.ratelimit.selfservice;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.PrintableText;
import dev.ratelimit.Quota;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.Fields;

/**
 * Limits that a tenant gives itself: {@code {"policy": "orders", "limits": {"per-tenant":
 * "500/s"}, "reason": "…"}}. A limit that is {@code null} goes back to the granted one.
 *
 * @param policy id of the policy
 * @param limits quotas by the name of the limit, empty for the granted ones
 */
record TenantRequest(String policy, Map<String, List<Quota>> limits) {

	private static final String EXAMPLE = "Send something like {\"policy\": \"orders\", \"limits\": {\"per-tenant\": \"500/s\"}, "
			+ "\"reason\": \"…\"}.";

	static TenantRequest parse(Fields body) {
		body.only(EXAMPLE, List.of("policy", "limits", "reason"));
		String policy = body.text("policy");
		Map<String, List<Quota>> quotas = new LinkedHashMap<>();
		body.object("limits").forEach((limit, value) -> quotas.put(limit, quotas(limit, value)));
		if (quotas.isEmpty()) {
			throw AdminProblem.invalid("limits", "The limits are missing", EXAMPLE);
		}
		return new TenantRequest(policy, quotas);
	}

	/**
	 * Checks that no limit is above the granted one.
	 */
	void requireWithin(Map<String, List<Quota>> granted) {
		this.limits.forEach((limit, quotas) -> {
			List<Quota> most = granted.get(limit);
			if (most == null) {
				throw AdminProblem.invalid(field(limit), "The policy has no such limit that counts by tenant alone",
						granted.isEmpty() ? "The policy has none."
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
			throw AdminProblem.forbidden("Limit '" + PrintableText.of(limit) + "' can be at most " + most
					+ " for this tenant; only operators can raise it");
		}
	}

	private static List<Quota> quotas(String limit, @Nullable Object value) {
		if (value == null) {
			return List.of();
		}
		Collection<?> texts = (value instanceof Collection<?> several) ? several : List.of(value);
		try {
			return texts.stream().map((text) -> Quota.parse(PrintableText.of(String.valueOf(text)))).toList();
		}
		catch (IllegalArgumentException ex) {
			throw AdminProblem.invalid(field(limit), "This is not a quota",
					"Use a quota such as 500/s or [\"500/s\", \"10000/h\"], or null for the granted one.");
		}
	}

	private static String field(String limit) {
		return "limits." + PrintableText.of(limit);
	}

}
