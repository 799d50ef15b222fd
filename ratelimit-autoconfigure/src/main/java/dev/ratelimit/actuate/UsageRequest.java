package dev.ratelimit.actuate;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.ForcedMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.admin.AdminQuery;
import dev.ratelimit.policy.PolicySet;

/**
 * Reads {@code ?policy=orders&tenant=acme&user=ann}: a caller by what is known about it,
 * if need be with its {@code tier}, and one {@code limit} if not all are meant. No value
 * is repeated in an error.
 *
 * @param request with the values
 * @param limit name of the limit, {@code null} for all of the policy
 */
record UsageRequest(Request request, @Nullable String limit) {

	static final List<String> FIELDS = List.of("policy", "limit", "tier", "reason");

	private static final Set<Dimension> WELL_KNOWN = Set.of(Dimension.USER, Dimension.TENANT, Dimension.IP,
			Dimension.ROUTE, Dimension.API_KEY, Dimension.REGION);

	static UsageRequest parse(Map<String, String> parameters, PolicySet policies) {
		AdminQuery.requireReason(parameters.get("reason"));
		Policy policy = policy(parameters.get("policy"), policies);
		Request request = Request.of(policy.id()).withTier(parameters.get("tier"));
		Set<String> known = dimensions(policy, policies);
		for (Map.Entry<String, String> parameter : parameters.entrySet()) {
			String name = parameter.getKey();
			if (FIELDS.contains(name)) {
				continue;
			}
			if (!known.contains(name)) {
				throw AdminProblem.invalid(ForcedMode.printable(name), "The policy does not count by this",
						"Use policy, limit, tier, and of these what is known about the caller: "
								+ String.join(", ", known) + ".");
			}
			Dimension dimension = new Dimension(name);
			request = request.with(dimension, CallerValue.counted(dimension, parameter.getValue()));
		}
		return new UsageRequest(request, limit(parameters.get("limit"), policy));
	}

	boolean means(Limit limit) {
		return this.limit == null || this.limit.equals(limit.name());
	}

	private static Policy policy(@Nullable String id, PolicySet policies) {
		String fix = "Use one of those that GET policies lists.";
		if (id == null) {
			throw AdminProblem.invalid("policy", "The policy is missing", fix);
		}
		Policy policy = policies.find(id);
		if (policy == null) {
			throw AdminProblem.invalid("policy", "There is no such policy", fix);
		}
		return policy;
	}

	private static @Nullable String limit(@Nullable String name, Policy policy) {
		List<String> names = policy.limits().stream().map(Limit::name).toList();
		if (name != null && !names.contains(name)) {
			throw AdminProblem.invalid("limit", "The policy has no such limit",
					"Use one of: " + String.join(", ", names) + ".");
		}
		return name;
	}

	/** Some of them only say which tier or override is the caller's. */
	private static Set<String> dimensions(Policy policy, PolicySet policies) {
		Set<String> names = new TreeSet<>();
		WELL_KNOWN.forEach((dimension) -> names.add(dimension.name()));
		policies.listedDimensions().forEach((dimension) -> names.add(dimension.name()));
		policy.limits().forEach((limit) -> limit.by().forEach((dimension) -> names.add(dimension.name())));
		policy.settings()
			.overrides()
			.forEach((override) -> override.when().keySet().forEach((dimension) -> names.add(dimension.name())));
		return names;
	}

}
