package dev.ratelimit.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Rollout;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.PathCosts;

/**
 * Says at start what is allowed but probably a mistake.
 */
final class PolicyWarnings {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private PolicyWarnings() {
	}

	static void log(RateLimitProperties properties, PolicySet policies, Map<String, DimensionResolver> resolvers) {
		policies.policies().forEach((policy) -> warnings(policy).forEach(logger::warn));
		neverMatching(properties, policies, resolvers).forEach(logger::warn);
	}

	static List<String> warnings(Policy policy) {
		List<String> warnings = new ArrayList<>();
		if (policy.algorithm() == Algorithm.FIXED_WINDOW) {
			warnings
				.add("Policy '" + policy.id() + "' uses fixed-window, which admits up to twice its permits across the "
						+ "edge of two windows; use gcra or sliding-window-counter if that matters");
		}
		policy.limits()
			.stream()
			.filter((limit) -> limit.by().equals(List.of(Dimension.API_KEY)))
			.forEach((limit) -> warnings.add("Limit '" + limit.name() + "' of policy '" + policy.id()
					+ "' counts by nothing but api-key: a caller that sends another unverified key with each request is "
					+ "never limited; add a limit by ip"));
		Rollout rollout = policy.settings().rollout();
		if (!rollout.stages().isEmpty()) {
			warnings.add("Policy '" + policy.id() + "' has stages, but a policy in the configuration stays at its "
					+ rollout.percent() + " %; write it through the actuator endpoint to have it rolled out in stages");
		}
		if (!PathCosts.effective() && !policy.settings().costs().isEmpty()) {
			warnings.add("Policy '" + policy.id()
					+ "' has costs for paths, which have no effect in this application: it has "
					+ "no spring-web and so no paths; pass the cost with the request");
		}
		return warnings;
	}

	/**
	 * Entries about values that callers choose, which never match.
	 */
	static List<String> neverMatching(RateLimitProperties properties, PolicySet policies,
			Map<String, DimensionResolver> resolvers) {
		Set<String> chosen = new TreeSet<>(Set.of("key"));
		resolvers.forEach((name, resolver) -> {
			if (!resolver.verified()) {
				chosen.add(name);
			}
		});
		Set<String> where = new TreeSet<>();
		properties.allow().forEach((entry) -> entry.keySet().forEach((name) -> where.add("ratelimit.allow#" + name)));
		policies.policies()
			.forEach((policy) -> policy.settings()
				.overrides()
				.forEach((override) -> override.when()
					.keySet()
					.forEach((dimension) -> where
						.add("ratelimit.policies." + policy.id() + ".overrides#" + dimension.name()))));
		return where.stream()
			.filter((text) -> chosen.contains(text.substring(text.indexOf('#') + 1)))
			.map((text) -> "An entry in '" + text.substring(0, text.indexOf('#')) + "' names '"
					+ text.substring(text.indexOf('#') + 1)
					+ "', whose values callers can choose, so it never matches; if they cannot, let verified() of its "
					+ "DimensionResolver return true")
			.toList();
	}

}
