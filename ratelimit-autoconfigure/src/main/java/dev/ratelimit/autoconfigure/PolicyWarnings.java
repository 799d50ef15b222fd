package dev.ratelimit.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Rollout;
import dev.ratelimit.policy.PolicySet;

/**
 * Says at start what is allowed but probably not meant, and what is set but has no
 * effect.
 */
final class PolicyWarnings {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private PolicyWarnings() {
	}

	static void log(RateLimitProperties properties, PolicySet policies) {
		policies.policies().forEach((policy) -> warnings(policy).forEach(logger::warn));
		List<String> unused = withoutEffect(properties);
		if (!unused.isEmpty()) {
			logger.warn("These settings are read but have no effect in this version: {}", String.join(", ", unused));
		}
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
		return warnings;
	}

	static List<String> withoutEffect(RateLimitProperties properties) {
		List<String> unused = new ArrayList<>();
		properties.policies().forEach((id, policy) -> {
			String at = "ratelimit.policies." + id;
			addIfSet(unused, at + ".cost", policy.cost());
			addIfSet(unused, at + ".idempotency", policy.idempotency());
			addIfSet(unused, at + ".penalty", policy.penalty());
		});
		return unused;
	}

	private static void addIfSet(List<String> unused, String name, @Nullable Object value) {
		if (value != null) {
			unused.add(name);
		}
	}

}
