package dev.ratelimit.actuate;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.policy.PolicySet;

/**
 * What is in force: on this instance as a whole, and policy by policy.
 */
public final class Overview {

	private final Supplier<PolicySet> policies;

	private final Counters counters;

	private final Fleet fleet;

	private final String region;

	private final Supplier<Map<String, String>> breakers;

	private final Consumer<Map<String, Object>> store;

	/**
	 * Creates it.
	 * @param store adds what is to be said about policies that are edited at run time
	 */
	public Overview(Supplier<PolicySet> policies, Counters counters, Fleet fleet, String region,
			Supplier<Map<String, String>> breakers, Consumer<Map<String, Object>> store) {
		this.policies = policies;
		this.counters = counters;
		this.fleet = fleet;
		this.region = region;
		this.breakers = breakers;
		this.store = store;
	}

	Map<String, Object> all(Map<String, Object> redSwitch) {
		Map<String, Object> overview = new LinkedHashMap<>();
		overview.put("backend", this.counters.source().text());
		overview.put("instance", this.fleet.instance());
		overview.put("fleet", this.fleet.size());
		overview.put("region", this.region);
		overview.put("breakers", this.breakers.get());
		overview.put("switch", redSwitch);
		Map<String, Object> policies = new TreeMap<>();
		this.policies.get()
			.policies()
			.forEach((policy) -> policies.put(policy.id(), Map.of("version", policy.version(), "onFailure",
					text(policy.settings().onFailure()), "mode", mode(policy))));
		overview.put("policies", policies);
		this.store.accept(overview);
		return overview;
	}

	static Map<String, Object> describe(Policy policy) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("id", policy.id());
		described.put("version", policy.version());
		described.put("description", policy.settings().description());
		described.put("owner", policy.settings().owner());
		described.put("algorithm", policy.algorithm().text());
		described.put("mode", mode(policy));
		described.put("onFailure", text(policy.settings().onFailure()));
		described.put("onMissingIdentity", text(policy.settings().onMissingIdentity()));
		Map<String, Object> limits = new LinkedHashMap<>();
		policy.limits().forEach((limit) -> limits.put(limit.name(), describe(limit)));
		described.put("limits", limits);
		described.put("tiers", policy.settings().tiers().keySet());
		described.put("overrides", policy.settings().overrides().size());
		return described;
	}

	private static Map<String, Object> describe(Limit limit) {
		Map<String, Object> described = new LinkedHashMap<>();
		described.put("by", limit.by().stream().map(Object::toString).toList());
		described.put("quota", limit.quotas().stream().map(Quota::toString).toList());
		return described;
	}

	private static String mode(Policy policy) {
		return policy.settings().shadow() ? "shadow" : "enforce";
	}

	static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT);
	}

}
