package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.PolicyOverride;
import dev.ratelimit.Quota;
import dev.ratelimit.Rollout;
import dev.ratelimit.Tier;
import dev.ratelimit.Work;
import dev.ratelimit.policy.AccessList;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.PathCosts;

/**
 * Makes policies of properties. What cannot be meant fails with the property's name, its
 * value and the fix.
 */
final class PolicyMapper {

	private static final List<Dimension> WELL_KNOWN = List.of(Dimension.USER, Dimension.TENANT, Dimension.IP,
			Dimension.ROUTE, Dimension.API_KEY, Dimension.REGION, new Dimension("key"));

	/** A pattern for every value, or a range for every address. */
	private static final Pattern EVERYBODY = Pattern.compile("\\*+|.+/0");

	private final Set<String> dimensions = new TreeSet<>();

	private final @Nullable Duration longestWindow;

	/**
	 * Creates a mapper.
	 * @param custom names of the custom dimensions that the application resolves
	 * @param longestWindow the longest that a window may be, {@code null} for any
	 */
	PolicyMapper(Set<String> custom, @Nullable Duration longestWindow) {
		this.longestWindow = longestWindow;
		WELL_KNOWN.forEach((dimension) -> this.dimensions.add(dimension.name()));
		this.dimensions.addAll(custom);
	}

	PolicySet map(RateLimitProperties properties) {
		List<Policy> policies = new ArrayList<>();
		properties.policies().forEach((id, policy) -> policies.add(map("ratelimit.policies." + id, id, policy)));
		return new PolicySet(policies, list("ratelimit.allow", false, properties.allow()),
				list("ratelimit.deny", true, properties.deny()));
	}

	/**
	 * Makes a policy.
	 * @param at where it was written, for what is said about it
	 */
	Policy map(String at, String id, PolicyProperties properties) {
		if (properties.limits().isEmpty()) {
			throw new InvalidPolicyException(at + ".limits", "Policy '" + id + "' has no limit.",
					"Set '" + at + ".limits', for example " + at + ".limits.per-user.by=user and " + at
							+ ".limits.per-user.quota=100/s.");
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
		String floor = properties.degradedFloor();
		boolean shadow = properties.mode() == PolicyProperties.Mode.SHADOW;
		Rollout rollout = rollout(at, properties.rollout());
		requireNoStagesInShadow(at, id, shadow, rollout);
		Quota degradedFloor = (floor != null) ? quota(at + ".degraded-floor", floor) : null;
		Policy.Settings settings = checked(at + ".timeout", "Set '" + at + ".timeout' to 1ms or more.",
				() -> new Policy.Settings(properties.description(), properties.owner(), properties.enforcement(),
						shadow, properties.onFailure(), degradedFloor, properties.onMissingIdentity(),
						properties.timeout(), properties.costs(), tiers, overrides, rollout));
		requireOneCall(at, id, properties.algorithm(), limits, settings);
		Policy policy = checked(at, "Set '" + at + "' to something that can be meant.",
				() -> new Policy(id, 0, properties.algorithm(), limits, settings));
		requireCostsThatFit(at, policy);
		checked(at + ".costs", "Set '" + at + ".costs' to patterns such as '[/orders/export/**]'.", () -> {
			PathCosts.validate(policy);
			return policy;
		});
		return policy;
	}

	private static Rollout rollout(String at, PolicyProperties.@Nullable Rollout rollout) {
		return (rollout == null) ? Rollout.COMPLETE
				: checked(at + ".rollout",
						"Set '" + at + ".rollout' to something that can be meant, for example " + at
								+ ".rollout.percent=10.",
						() -> new Rollout(rollout.percent(), rollout.validFrom(), rollout.stages(), rollout.hold()));
	}

	/** A version in shadow is for nobody, so it could never reach its first stage. */
	private static void requireNoStagesInShadow(String at, String id, boolean shadow, Rollout rollout) {
		if (shadow && !rollout.stages().isEmpty()) {
			throw new InvalidPolicyException(at + ".rollout.stages",
					"Policy '" + id + "' is in shadow and has rollout stages.",
					"Remove '" + at + ".rollout.stages', or set '" + at + ".mode' to enforce.");
		}
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
					"Limit '" + name + "' of policy '" + policy + "' does not say what it counts by.",
					"Set '" + at + ".by' to one or more of: " + String.join(", ", this.dimensions)
							+ "; or to [] for one counter for the whole fleet.");
		}
		List<Dimension> dimensions = by.stream()
			.map((dimension) -> dimension(at + ".by", "Policy '" + policy + "' counts by", dimension))
			.toList();
		Limit mapped = checked(at, "Set '" + at + "' to something that can be meant.",
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

	/** An override is looked up by the one way in which an address is written. */
	private static String address(String at, String text) {
		IpAddress address = IpAddress.parse(text);
		if (address == null) {
			throw new InvalidPolicyException(at, "An override by ip is for one IP address, and this is none.",
					"Set '" + at + "' to an address such as 203.0.113.7 or 2001:db8::7.");
		}
		return address.toString();
	}

	private static void requireNoBrokenDigest(String at, Dimension dimension, String value) {
		if (ApiKeyDigest.isBroken(dimension, value)) {
			throw new InvalidPolicyException(at,
					"This API key begins with sha256: but is no digest, which has 64 hex digits.",
					"Set '" + at + "' to sha256: and 64 hex digits, or to the key itself.");
		}
	}

	/**
	 * Makes a list.
	 * @param at where it was written, for what is said about it
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
	 * Checks an entry of a list. A deny-list that matches everybody is a slip: nothing
	 * would be answered any more.
	 */
	static void requireEntry(String at, boolean deny, Map<Dimension, String> entry) {
		checked(at, "Set '" + at + "' to something that can be meant.", () -> new AccessList(List.of(entry)));
		if (deny && entry.values().stream().allMatch(EVERYBODY.asMatchPredicate())) {
			throw new InvalidPolicyException(at, "This entry of the deny-list would refuse everything.",
					"Name those in '" + at + "' who are to be turned away, or turn the switch to deny.");
		}
	}

	/**
	 * Makes networks.
	 * @param at where they were written, for what is said about them
	 */
	static List<IpAddress.Range> ranges(String at, List<String> texts) {
		List<IpAddress.Range> ranges = new ArrayList<>();
		for (int i = 0; i < texts.size(); i++) {
			String text = texts.get(i);
			String where = at + "[" + i + "]";
			ranges.add(checked(where, "Set '" + where + "' to an address or a network such as 10.0.0.0/8.",
					() -> IpAddress.Range.parse(text)));
		}
		return ranges;
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
	 * A counter is given up when the keys of hashed values change for the second time.
	 */
	private Quota counted(String at, Quota quota) {
		if (this.longestWindow != null && quota.window().compareTo(this.longestWindow) > 0) {
			throw new InvalidPolicyException(at,
					"A window of " + quota.window().toSeconds() + " s is longer than a hash is used, which is "
							+ this.longestWindow.toSeconds() + " s.",
					"Set 'ratelimit.identity.hash.rotate' to at least the longest window, or '" + at
							+ "' to a shorter one.");
		}
		return quota;
	}

	private static Quota quota(String at, String text) {
		return checked(at, "Set '" + at + "' to a quota such as 100/s, 5/10s or 100/s burst 200.",
				() -> Quota.parse(text));
	}

	static <T> T checked(String fix, Supplier<T> value) {
		return checked("", fix, value);
	}

	private static <T> T checked(String at, String fix, Supplier<T> value) {
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
