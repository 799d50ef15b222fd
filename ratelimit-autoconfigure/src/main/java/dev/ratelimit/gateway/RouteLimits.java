package dev.ratelimit.gateway;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Quota;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.gateway.DistributedRateLimiter.Config;
import dev.ratelimit.web.CallCheck;

/**
 * The limits of the routes of {@link DistributedRateLimiter}, by route id. Every
 * configuration that is put here is checked and loaded, whether the gateway puts it or a
 * route that is written in Java.
 */
final class RouteLimits extends ConcurrentHashMap<String, Config> {

	/** The gateway's own name, so that routes need not be rewritten. */
	static final String PROPERTY = "redis-rate-limiter";

	/** The gateway's name for filters that all routes have. */
	static final String DEFAULT_FILTERS = "defaultFilters";

	private final transient Function<Quota, CallCheck> factory;

	private final transient Map<String, RouteLimit> loaded = new ConcurrentHashMap<>();

	/** One per combination of rate and burst; they share their counters. */
	private final transient Map<Quota, CallCheck> checks = new ConcurrentHashMap<>();

	/** From properties that name routes, for filters without arguments. */
	private transient volatile Map<String, Config> configured = Map.of();

	RouteLimits(Function<Quota, CallCheck> factory) {
		this.factory = factory;
	}

	/**
	 * Sets the limits of routes whose filter has no arguments. They are checked when they
	 * are looked up, because they may be those of the gateway's own limiter.
	 */
	void configured(Map<String, Config> configured) {
		this.configured = Map.copyOf(configured);
	}

	/** Checks all limits that properties give. */
	void checkConfigured() {
		this.configured.keySet().forEach(this::own);
	}

	@Override
	public @Nullable Config put(String routeId, Config config) {
		require(where(routeId), config);
		CallCheck check = (config.getBurstCapacity() > 0) ? this.checks.computeIfAbsent(quota(config), this.factory)
				: null;
		this.loaded.put(routeId,
				new RouteLimit(check, config.getRequestedTokens(),
						Map.of("X-RateLimit-Replenish-Rate", String.valueOf(config.getReplenishRate()),
								"X-RateLimit-Burst-Capacity", String.valueOf(config.getBurstCapacity()),
								"X-RateLimit-Requested-Tokens", String.valueOf(config.getRequestedTokens()))));
		return super.put(routeId, config);
	}

	/**
	 * The limit of a route, else that of all routes; {@code null} if there is neither.
	 */
	@Nullable RouteLimit find(String routeId) {
		RouteLimit limit = own(routeId);
		return (limit != null) ? limit : own(DEFAULT_FILTERS);
	}

	private @Nullable RouteLimit own(String routeId) {
		RouteLimit limit = this.loaded.get(routeId);
		Config config = (limit == null) ? this.configured.get(routeId) : null;
		if (config == null) {
			return limit;
		}
		put(routeId, config);
		return this.loaded.get(routeId);
	}

	long largestCost() {
		return this.loaded.values().stream().mapToLong(RouteLimit::cost).reduce(1, Math::max);
	}

	/**
	 * Names the place of a filter.
	 * @param routeId {@code null} for a route without an id: the gateway invents one
	 * later
	 */
	static String where(@Nullable String routeId) {
		if (routeId == null) {
			return "a route without an id";
		}
		return routeId.equals(DEFAULT_FILTERS) ? "default-filters" : "route '" + routeId + "'";
	}

	private static Quota quota(Config config) {
		return new Quota(config.getReplenishRate(), Duration.ofSeconds(1), config.getBurstCapacity());
	}

	private static void require(String where, Config config) {
		int rate = config.getReplenishRate();
		long burst = config.getBurstCapacity();
		int tokens = config.getRequestedTokens();
		require(rate >= 1 && rate <= Quota.MAX_PERMITS, where, "replenishRate", rate,
				"the tokens that come in per second, 1 to " + Quota.MAX_PERMITS);
		require(burst >= 0 && burst <= Quota.MAX_PERMITS, where, "burstCapacity", burst,
				"the tokens that can be taken at once, 1 to " + Quota.MAX_PERMITS + ", or to 0 to refuse everything");
		require(tokens >= 1, where, "requestedTokens", tokens, "the tokens that a request costs, at least 1");
		require(burst == 0 || tokens <= burst, where, "requestedTokens", tokens,
				"at most the burstCapacity of " + burst + ", or no request would ever pass");
		if (burst > 0) {
			try {
				quota(config);
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidPolicyException(where + ": " + ex.getMessage() + ".",
						"Set '" + PROPERTY + ".burstCapacity' to a smaller number.");
			}
		}
	}

	private static void require(boolean condition, String where, String field, long value, String fix) {
		if (!condition) {
			String name = PROPERTY + "." + field;
			throw new InvalidPolicyException(where + ": " + name + " cannot be " + value + ".",
					"Set '" + name + "' to " + fix + ".");
		}
	}

	/**
	 * The limit of one route.
	 *
	 * @param check {@code null} if everything is refused
	 * @param cost tokens of a request
	 * @param constants headers with the same values in every answer
	 */
	record RouteLimit(@Nullable CallCheck check, long cost, Map<String, String> constants) {

		Map<String, String> headers(long remaining) {
			Map<String, String> headers = new HashMap<>(this.constants);
			if (!headers.isEmpty()) {
				headers.put("X-RateLimit-Remaining", Long.toString(remaining));
			}
			return headers;
		}

	}

}
