package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.Rollout;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.PathCosts;

/**
 * Says at start what is allowed but probably a mistake.
 */
final class PolicyWarnings {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** How many times the permits of the smallest tier are no reason to warn. */
	private static final long UNEVEN = 10;

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
		policy.limits().forEach((limit) -> unevenTiers(policy, limit, warnings));
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
	 * Tiers that share counters although one has far more than the other. A counter by
	 * user or API key is one caller's, which has one tier.
	 */
	private static void unevenTiers(Policy policy, Limit limit, List<String> warnings) {
		if (limit.by().contains(Dimension.USER) || limit.by().contains(Dimension.API_KEY)) {
			return;
		}
		Map<Duration, LongSummaryStatistics> bursts = Stream
			.concat(Stream.of(limit.quotas()),
					policy.settings().tiers().values().stream().map((tier) -> tier.limits().get(limit.name())))
			.filter(Objects::nonNull)
			.flatMap(List::stream)
			.collect(Collectors.groupingBy(Quota::window, TreeMap::new, Collectors.summarizingLong(Quota::burst)));
		bursts.forEach((window, burst) -> {
			if (burst.getMax() > UNEVEN * burst.getMin()) {
				warnings.add("Tiers of limit '" + limit.name() + "' of policy '" + policy.id() + "' have from "
						+ burst.getMin() + " to " + burst.getMax() + " permits at once per " + Quota.text(window)
						+ ". Where callers of different tiers share a counter, those with few are refused while those "
						+ "with many are busy; give all callers of a counter one tier, or count each tier by a limit "
						+ "of its own");
			}
		});
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
