package dev.ratelimit.config;

import java.math.BigDecimal;
import java.math.MathContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.HashSet;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
 * Warns at start about settings that are valid but probably a mistake.
 */
public final class PolicyWarnings {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** Tiers that differ by at most this factor are not warned about. */
	private static final long UNEVEN = 10;

	private static final String ONE_TIER = "give all callers of a counter one tier, or count each tier by a limit "
			+ "of its own";

	private PolicyWarnings() {
	}

	public static void log(RateLimitProperties properties, PolicySet policies,
			Map<String, DimensionResolver> resolvers) {
		Set<String> chosen = DimensionMapper.chosen(resolvers);
		policies.policies().forEach((policy) -> warnings(policy, chosen).forEach(logger::warn));
		neverMatching(properties, policies, resolvers).forEach(logger::warn);
		withoutIds(properties, policies).ifPresent(logger::warn);
		unknownTiers(properties, policies).forEach(logger::warn);
	}

	/** Without known proxies nobody's ids are believed. */
	private static Optional<String> withoutIds(RateLimitProperties properties, PolicySet policies) {
		String ids = policies.policies()
			.stream()
			.filter((policy) -> policy.settings().idempotency() != null)
			.map(Policy::id)
			.sorted()
			.collect(Collectors.joining(", "));
		return (ids.isEmpty() || !properties.identity().trustedProxies().isEmpty()) ? Optional.empty()
				: Optional.of("Policies with idempotency (" + ids + ") ignore the header with the request id, because "
						+ "'ratelimit.identity.trusted-proxies' is empty: callers could send any id; set it to the "
						+ "networks of the proxies that set the header");
	}

	/**
	 * Warns of a cost that a route or a URL entry charges and that the policy never has.
	 * @param where what charges it
	 */
	public static Optional<String> neverFits(String where, Policy policy, long cost) {
		long largest = policy.limits().stream().mapToLong(Limit::largestCost).min().orElseThrow();
		return (cost <= largest) ? Optional.empty()
				: Optional.of(where + " costs " + cost + " permits, but policy '" + policy.id()
						+ "' never has more than " + largest + " at once by default; callers without a larger "
						+ "tier or override are always refused");
	}

	/**
	 * Warnings about a policy of the configuration.
	 * @param chosen names of dimensions whose values callers choose
	 */
	static List<String> warnings(Policy policy, Set<String> chosen) {
		List<String> warnings = new ArrayList<>(ofWritten(policy, chosen));
		Rollout rollout = policy.settings().rollout();
		if (!rollout.stages().isEmpty()) {
			warnings.add("Policy '" + policy.id() + "' has stages, but a policy in the configuration stays at its "
					+ rollout.percent() + " %; write it through the actuator endpoint to roll it out in stages");
		}
		return warnings;
	}

	/**
	 * Warnings about a policy that was written at run time.
	 * @param chosen names of dimensions whose values callers choose
	 */
	static List<String> ofWritten(Policy policy, Set<String> chosen) {
		List<String> warnings = new ArrayList<>();
		escaped(policy, chosen).ifPresent(warnings::add);
		if (policy.algorithm() == Algorithm.FIXED_WINDOW) {
			warnings
				.add("Policy '" + policy.id() + "' uses fixed-window, which admits up to twice its permits across the "
						+ "edge of two windows; use gcra or sliding-window-counter if that matters");
		}
		policy.limits()
			.stream()
			.filter(PolicyWarnings::isByKeyOnly)
			.forEach((limit) -> warnings.add("Limit '" + limit.name() + "' of policy '" + policy.id()
					+ "' counts by api-key only: a caller that sends another unverified key with each request is never "
					+ "limited; add a limit by ip"));
		policy.limits().forEach((limit) -> unevenTiers(policy, limit, warnings));
		if (policy.settings().idempotency() != null && policy.limits().stream().noneMatch(Limit::penalises)) {
			warnings.add("Policy '" + policy.id() + "' has idempotency but no limit by user, api-key or ip: callers "
					+ "that share its counters also share request ids, so one can be admitted as a retry of another; "
					+ "add such a limit");
		}
		if (!PathCosts.effective() && !policy.settings().costs().isEmpty()) {
			warnings.add("Policy '" + policy.id()
					+ "' has costs for paths, which have no effect in this application: it has "
					+ "no spring-web and so no paths; pass the cost with the request");
		}
		return warnings;
	}

	/**
	 * A policy that a caller escapes by other values. An API key may be unverified;
	 * limits by it alone have a warning of their own.
	 */
	private static Optional<String> escaped(Policy policy, Set<String> chosen) {
		Set<String> escapes = new TreeSet<>();
		for (Limit limit : policy.limits()) {
			List<String> values = limit.by()
				.stream()
				.filter((dimension) -> dimension.equals(Dimension.API_KEY) || chosen.contains(dimension.name()))
				.map(Dimension::name)
				.toList();
			if (values.isEmpty()) {
				return Optional.empty();
			}
			escapes.addAll(values);
		}
		if (policy.limits().stream().allMatch(PolicyWarnings::isByKeyOnly)) {
			return Optional.empty();
		}
		return Optional.of("Every limit of policy '" + policy.id() + "' counts by a value that callers choose ("
				+ String.join(", ", escapes) + "): a caller that sends another value with each request is never "
				+ "limited; add a limit without it, for example by ip or by user");
	}

	private static boolean isByKeyOnly(Limit limit) {
		return limit.by().equals(List.of(Dimension.API_KEY));
	}

	/**
	 * Tiers that share counters although one has far more than the other. A counter by
	 * user or API key is one caller's, which has one tier.
	 */
	private static void unevenTiers(Policy policy, Limit limit, List<String> warnings) {
		if (limit.by().contains(Dimension.USER) || limit.by().contains(Dimension.API_KEY)) {
			return;
		}
		Map<Duration, List<Quota>> tiers = Stream
			.concat(Stream.of(limit.quotas()),
					policy.settings().tiers().values().stream().map((tier) -> tier.limits().get(limit.name())))
			.filter(Objects::nonNull)
			.flatMap(List::stream)
			.collect(Collectors.groupingBy(Quota::window, TreeMap::new, Collectors.toList()));
		tiers.forEach((window, quotas) -> {
			LongSummaryStatistics bursts = quotas.stream().mapToLong(Quota::burst).summaryStatistics();
			DoubleSummaryStatistics fills = quotas.stream()
				.mapToDouble(PolicyWarnings::windowsToFill)
				.summaryStatistics();
			String which = "Tiers of limit '" + limit.name() + "' of policy '" + policy.id() + "' ";
			if (bursts.getMax() > UNEVEN * bursts.getMin()) {
				warnings.add(which + "have from " + bursts.getMin() + " to " + bursts.getMax() + " permits at once per "
						+ Quota.text(window)
						+ ". Where callers of different tiers share a counter, those with few are refused while those "
						+ "with many are busy; " + ONE_TIER);
			}
			else if (policy.algorithm().hasBurst() && fills.getMax() >= UNEVEN * fills.getMin()) {
				warnings.add(which + "need from " + seconds(fills.getMin(), window) + " to "
						+ seconds(fills.getMax(), window) + " to fill up per " + Quota.text(window)
						+ ". Where callers of different tiers share a counter, those that fill up soon are refused "
						+ "after the others have used a small part; " + ONE_TIER);
			}
		});
	}

	/** Callers that share a counter share the time until it is full. */
	private static double windowsToFill(Quota quota) {
		return (double) quota.burst() / quota.permits();
	}

	private static String seconds(double windows, Duration window) {
		return BigDecimal.valueOf(windows * window.toSeconds())
			.round(new MathContext(3))
			.stripTrailingZeros()
			.toPlainString() + "s";
	}

	/** Keys of a tier that no policy has get the default quotas. */
	private static List<String> unknownTiers(RateLimitProperties properties, PolicySet policies) {
		Set<String> known = policies.policies()
			.stream()
			.flatMap((policy) -> policy.settings().tiers().keySet().stream())
			.collect(Collectors.toCollection(TreeSet::new));
		return properties.identity()
			.apiKeyTiers()
			.values()
			.stream()
			.distinct()
			.filter((tier) -> !known.contains(tier))
			.map((tier) -> "'ratelimit.identity.api-key-tiers' names tier '" + tier
					+ "', which no configured policy has: its keys get the default quotas")
			.toList();
	}

	/**
	 * Entries about values that callers choose, which never match.
	 */
	static List<String> neverMatching(RateLimitProperties properties, PolicySet policies,
			Map<String, DimensionResolver> resolvers) {
		Set<String> chosen = new HashSet<>(DimensionMapper.chosen(resolvers));
		chosen.add("key");
		Map<String, Set<String>> named = new TreeMap<>();
		properties.allow()
			.forEach((entry) -> named.computeIfAbsent("ratelimit.allow", (place) -> new TreeSet<>())
				.addAll(entry.keySet()));
		policies.policies()
			.forEach((policy) -> policy.settings()
				.overrides()
				.forEach((override) -> override.when()
					.keySet()
					.forEach((dimension) -> named
						.computeIfAbsent("ratelimit.policies." + policy.id() + ".overrides", (place) -> new TreeSet<>())
						.add(dimension.name()))));
		List<String> warnings = new ArrayList<>();
		named.forEach((place, names) -> names.stream()
			.filter(chosen::contains)
			.forEach((name) -> warnings.add("An entry in '" + place + "' names '" + name
					+ "', whose values callers can choose, so it never matches; use a claim of the token, or, if callers "
					+ "cannot choose them, let verified() of its DimensionResolver return true")));
		return warnings;
	}

}
