package dev.ratelimit.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.Idempotency;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Rollout;
import dev.ratelimit.Settling;
import dev.ratelimit.Tier;
import dev.ratelimit.Work;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.PathCosts;

/**
 * Maps properties to policies. An invalid property fails with its name, its value and the
 * fix.
 */
public final class PolicyMapper {

	/** A pattern for every value, or a range for every address. */
	private static final Pattern EVERYBODY = Pattern.compile("\\*+|.+/0");

	private final Set<String> dimensions;

	private final Set<String> chosen;

	private final @Nullable Duration longestWindow;

	/**
	 * @param custom names of the custom dimensions that the application resolves
	 * @param chosen those custom dimensions whose values callers choose, for warnings
	 * @param longestWindow the longest allowed window, {@code null} for any
	 */
	public PolicyMapper(Set<String> custom, Set<String> chosen, @Nullable Duration longestWindow) {
		this.chosen = Set.copyOf(chosen);
		this.longestWindow = longestWindow;
		this.dimensions = DimensionMapper.known(custom);
	}

	/**
	 * Warnings about a policy of the configuration.
	 */
	List<String> warnings(Policy policy) {
		return PolicyWarnings.warnings(policy, this.chosen);
	}

	/**
	 * Warnings about a policy that was written at run time.
	 */
	List<String> warningsOfWritten(Policy policy) {
		return PolicyWarnings.ofWritten(policy, this.chosen);
	}

	public PolicySet map(RateLimitProperties properties) {
		List<Policy> policies = new ArrayList<>();
		properties.policies().forEach((id, policy) -> policies.add(map("ratelimit.policies." + id, id, policy)));
		return new PolicySet(policies, list("ratelimit.allow", false, properties.allow()),
				list("ratelimit.deny", true, properties.deny()));
	}

	/**
	 * Maps one policy.
	 * @param at its place in the configuration, for messages
	 */
	Policy map(String at, String id, PolicyProperties properties) {
		if (properties.limits().isEmpty()) {
			throw new InvalidPolicyException(at + ".limits", "Policy '" + id + "' has no limits.",
					"Add at least one under '" + at + ".limits', for example " + at + ".limits.per-user.by=user and "
							+ at + ".limits.per-user.quota=100/s.");
		}
		List<Limit> limits = new ArrayList<>();
		properties.limits().forEach((name, limit) -> limits.add(map(at + ".limits." + name, id, name, limit)));
		Map<String, Tier> tiers = new HashMap<>();
		properties.tiers()
			.forEach((name, tier) -> tiers.put(name,
					new Tier(quotas(at + ".tiers." + name + ".limits", tier.limits()), tier.onFailure())));
		List<PolicyOverride> overrides = new ArrayList<>();
		for (int i = 0; i < properties.overrides().size(); i++) {
			overrides.add(map(at + ".overrides[" + i + "]", properties.overrides().get(i)));
		}
		boolean shadow = properties.mode() == PolicyProperties.Mode.SHADOW;
		Rollout rollout = PolicyParts.rollout(at, properties.rollout());
		PolicyParts.requireNoStagesInShadow(at, id, shadow, rollout);
		Settling settling = PolicyParts.settling(at, id, properties.cost());
		Penalty penalty = PolicyParts.penalty(at, id, limits, properties.penalty());
		Idempotency idempotency = PolicyParts.idempotency(at, properties.idempotency());
		Quota floor = optional(at + ".degraded-floor", properties.degradedFloor());
		Quota ceiling = optional(at + ".degraded-ceiling", properties.degradedCeiling());
		Policy.Settings settings = checked(at + ".timeout", "Set '" + at + ".timeout' to 1ms or more.",
				() -> new Policy.Settings(properties.description(), properties.owner(), properties.enforcement(),
						shadow, properties.onFailure(), floor, ceiling, properties.onMissingIdentity(),
						properties.timeout(), properties.costs(), tiers, overrides, rollout, penalty, settling,
						idempotency));
		requireOneCall(at, id, properties.algorithm(), limits, settings);
		Policy policy = checked(at,
				"Correct the id, limits, tiers or overrides of '" + at + "': 1 to " + Policy.MAX_LIMITS
						+ " limits, and a burst only with gcra or token-bucket.",
				() -> new Policy(id, 0, properties.algorithm(), limits, settings));
		requireCostsThatFit(at, policy);
		checked(at + ".costs", "Set '" + at + ".costs' to patterns such as '[/orders/export/**]'.", () -> {
			PathCosts.validate(policy);
			return policy;
		});
		return policy;
	}

	private static void requireOneCall(String at, String id, Algorithm algorithm, List<Limit> limits,
			Policy.Settings settings) {
		checked(at + ".limits", "Remove limits or quotas from '" + at + ".limits', '" + at + ".tiers' or '" + at
				+ ".overrides', or set '" + at + ".algorithm' to sliding-window-counter.", () -> {
					Work.requireOneCall(id, algorithm, limits, settings);
					return limits;
				});
	}

	private static void requireCostsThatFit(String at, Policy policy) {
		long largest = policy.largestCost();
		Settling settling = policy.settings().settling();
		if (settling != null && settling.estimate() > largest) {
			throw new InvalidPolicyException(at + ".cost.estimate",
					"Policy '" + policy.id() + "' estimates " + settling.estimate()
							+ " permits, but no caller ever has more than " + largest + " permits at once.",
					"Set '" + at + ".cost.estimate' to 1 to " + largest + ", or raise the burst of the limits"
							+ orSplit(policy) + ".");
		}
		policy.settings().costs().forEach((pattern, cost) -> {
			if (cost < 0 || cost > largest) {
				throw new InvalidPolicyException(at + ".costs",
						"Policy '" + policy.id() + "' charges " + cost + " for '" + pattern
								+ "', but no caller ever has more than " + largest + " permits at once.",
						"Set '" + at + ".costs[" + pattern + "]' to 0 to " + largest
								+ ", or raise the burst of the limits" + orSplit(policy) + ".");
			}
		});
	}

	private static String orSplit(Policy policy) {
		return policy.limits().stream().anyMatch((limit) -> limit.split() > 1)
				? ", or lower their split, as all permits come from one part" : "";
	}

	private Limit map(String at, String policy, String name, PolicyProperties.Limit limit) {
		List<String> by = limit.by();
		if (by == null) {
			throw new InvalidPolicyException(at + ".by",
					"Limit '" + name + "' of policy '" + policy + "' has no 'by', which says what it counts by.",
					"Set '" + at + ".by' to one or more of: " + String.join(", ", this.dimensions)
							+ "; or to [] for one counter for the whole fleet.");
		}
		List<Dimension> dimensions = by.stream()
			.map((dimension) -> dimension(at + ".by", "Policy '" + policy + "' counts by", dimension))
			.toList();
		Limit mapped = checked(at,
				"Set '" + at + ".by' to different dimensions, and '" + at + ".quota' to 1 to " + Limit.MAX_QUOTAS
						+ " quotas with different windows.",
				() -> new Limit(name, dimensions, quotas(at + ".quota", limit.quota()), limit.enforcement()));
		return checked(
				at + ".split", "Set '" + at + ".split' to 1 to " + Limit.MAX_SPLIT
						+ ", and to no more than any quota in '" + at + ".quota' has permits and burst.",
				() -> mapped.withSplit(limit.split()));
	}

	private PolicyOverride map(String at, PolicyProperties.Override override) {
		Map<Dimension, String> when = new LinkedHashMap<>();
		override.when().forEach((name, value) -> {
			Dimension dimension = dimension(at + ".when", "An override is for callers by", name);
			String where = at + ".when." + name;
			requireNoBrokenDigest(where, dimension, value);
			when.put(dimension, dimension.equals(Dimension.IP) ? address(where, value) : value);
		});
		return checked(at + ".when", "Set '" + at + ".when', for example " + at + ".when.tenant=acme.",
				() -> new PolicyOverride(when, quotas(at + ".limits", override.limits())));
	}

	/** An override is looked up by the canonical text of an address. */
	private static String address(String at, String text) {
		IpAddress address = IpAddress.parse(text);
		if (address == null) {
			throw new InvalidPolicyException(at, "An override by ip needs one IP address, but this value is not one.",
					"Set '" + at + "' to an address such as 203.0.113.7 or 2001:db8::7.");
		}
		return address.toString();
	}

	private static void requireNoBrokenDigest(String at, Dimension dimension, String value) {
		if (ApiKeyDigest.isBroken(dimension, value)) {
			throw new InvalidPolicyException(at,
					"This API key begins with sha256: but is not a digest of 64 hex digits.",
					"Set '" + at + "' to sha256: and 64 hex digits, or to the key itself.");
		}
	}

	/**
	 * Maps a list.
	 * @param at its place in the configuration, for messages
	 */
	AccessList list(String at, boolean deny, List<Map<String, String>> entries) {
		List<Map<Dimension, String>> mapped = new ArrayList<>();
		for (int i = 0; i < entries.size(); i++) {
			String where = at + "[" + i + "]";
			Map<Dimension, String> entry = new LinkedHashMap<>();
			entries.get(i).forEach((name, value) -> {
				Dimension dimension = dimension(where, "A list entry is about", name);
				requireNoBrokenDigest(where + '.' + name, dimension, value);
				entry.put(dimension, value);
			});
			mapped.add(entry);
			requireEntry(where, deny, entry);
		}
		return new AccessList(mapped);
	}

	/**
	 * Checks an entry of a list. An entry of the deny-list that matches all callers is a
	 * slip: every request would be refused.
	 */
	static void requireEntry(String at, boolean deny, Map<Dimension, String> entry) {
		checked(at, "Set '" + at + "' to at least one dimension and its value, for example " + at + ".tenant=acme.",
				() -> new AccessList(List.of(entry)));
		if (deny && entry.values().stream().allMatch(EVERYBODY.asMatchPredicate())) {
			throw new InvalidPolicyException(at, "This entry of the deny-list would refuse every request.",
					"Set '" + at + "' to the callers that are refused, or turn the switch to deny.");
		}
	}

	/**
	 * Checks that texts are networks.
	 * @param at the property that they come from
	 */
	public static void requireRanges(String at, List<String> texts) {
		for (int i = 0; i < texts.size(); i++) {
			String text = texts.get(i);
			String where = at + "[" + i + "]";
			checked(where, "Set '" + where + "' to an address or a network such as 10.0.0.0/8.",
					() -> IpAddress.Range.parse(text));
		}
	}

	/**
	 * Checks the plans of API keys. The message leaves patterns out: one may be a key.
	 */
	public static void requireKeyTiers(Map<String, String> tiers) {
		if (tiers.entrySet().stream().anyMatch((entry) -> entry.getKey().isBlank() || entry.getValue().isBlank())) {
			throw new InvalidPolicyException("ratelimit.identity.api-key-tiers",
					"'ratelimit.identity.api-key-tiers' has an entry without a pattern or without a tier.",
					"Write a pattern in brackets and the name of a tier, for example \"[sk_prod_*]\": pro.");
		}
	}

	Dimension dimension(String at, String what, String name) {
		if (!this.dimensions.contains(name)) {
			throw new InvalidPolicyException(at, what + " '" + name + "', which is not a known dimension.",
					"Set '" + at + "' to one of: " + String.join(", ", this.dimensions)
							+ ", or register a DimensionResolver bean named '" + name + "'.");
		}
		return new Dimension(name);
	}

	Map<String, List<Quota>> quotas(String at, Map<String, List<String>> limits) {
		Map<String, List<Quota>> quotas = new LinkedHashMap<>();
		limits.forEach((name, texts) -> quotas.put(name, quotas(at + "." + name, texts)));
		return quotas;
	}

	private List<Quota> quotas(String at, List<String> texts) {
		return texts.stream().map((text) -> counted(at, quota(at, text))).toList();
	}

	/**
	 * A counter is lost when the keys of hashed values change for the second time.
	 */
	private Quota counted(String at, Quota quota) {
		if (this.longestWindow != null && quota.window().compareTo(this.longestWindow) > 0) {
			throw new InvalidPolicyException(at,
					"A window of " + quota.window().toSeconds() + " s is longer than the "
							+ this.longestWindow.toSeconds() + " s for which a hash is used.",
					"Set 'ratelimit.identity.hash.rotate' to at least the longest window, or '" + at
							+ "' to a shorter one.");
		}
		return quota;
	}

	private static @Nullable Quota optional(String at, @Nullable String text) {
		return (text != null) ? quota(at, text) : null;
	}

	private static Quota quota(String at, String text) {
		return checked(at, "Set '" + at + "' to a quota such as 100/s, 5/10s or 100/s burst 200.",
				() -> Quota.parse(text));
	}

	public static <T> T checked(String fix, Supplier<T> value) {
		return checked("", fix, value);
	}

	static <T> T checked(String at, String fix, Supplier<T> value) {
		try {
			return value.get();
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidPolicyException(at, sentence(ex.getMessage()), fix);
		}
	}

	private static String sentence(@Nullable String message) {
		String text = String.valueOf(message);
		return Character.toUpperCase(text.charAt(0)) + text.substring(1) + ".";
	}

}
