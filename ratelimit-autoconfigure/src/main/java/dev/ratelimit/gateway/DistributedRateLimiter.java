package dev.ratelimit.gateway;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.reactive.ReactiveRateLimiter;

/**
 * Stands in for the gateway's own Redis limiter: the same arguments and headers, under
 * {@code RequestRateLimiter} with {@code rate-limiter: "#{@distributedRateLimiter}"}. It
 * refills continuously, limits whatever the ratio of burst and rate is, and says when to
 * retry.
 */
public class DistributedRateLimiter extends AbstractRateLimiter<DistributedRateLimiter.Config> {

	/** As in the gateway, so that routes need not be rewritten. */
	private static final String CONFIGURATION_PROPERTY_NAME = "redis-rate-limiter";

	private static final String POLICY = "request-rate-limiter";

	private static final Dimension KEY = new Dimension("key");

	private final Function<PolicySet, RateLimiter> factory;

	/**
	 * One per combination of rate and burst that routes use; they share their counters.
	 */
	private final Map<Quota, RateLimiter> limiters = new ConcurrentHashMap<>();

	/**
	 * Creates the limiter.
	 * @param configuration binds the arguments of routes
	 * @param factory makes a limiter over the application's counters
	 */
	public DistributedRateLimiter(ConfigurationService configuration, Function<PolicySet, RateLimiter> factory) {
		super(Config.class, CONFIGURATION_PROPERTY_NAME, configuration);
		this.factory = factory;
	}

	@Override
	public Mono<Response> isAllowed(String routeId, String id) {
		Config config = getConfig().getOrDefault(routeId, getConfig().get("defaultFilters"));
		if (config == null) {
			return Mono.error(new IllegalArgumentException("route '" + routeId
					+ "': the RequestRateLimiter filter needs redis-rate-limiter.replenishRate and burstCapacity"));
		}
		if (config.burstCapacity == 0) {
			return Mono.just(new Response(false, headers(config, 0)));
		}
		RateLimiter limiter = this.limiters.computeIfAbsent(config.quota(), this::limiter);
		Request request = Request.of(POLICY)
			.with(Dimension.ROUTE, routeId)
			.with(KEY, id)
			.withCost(config.requestedTokens);
		return ReactiveRateLimiter.of(limiter).check(request).map((decision) -> response(config, decision));
	}

	private RateLimiter limiter(Quota quota) {
		return this.factory.apply(PolicySet.of(policy(quota)));
	}

	/**
	 * The policy by which it decides, but for the quota the same for all routes.
	 */
	public static Policy policy(Quota quota) {
		Limit limit = new Limit("per-route-and-key", List.of(Dimension.ROUTE, KEY), List.of(quota));
		return Policy.builder(POLICY).limit(limit).build();
	}

	private static Response response(Config config, Decision decision) {
		Map<String, String> headers = headers(config, decision.remaining());
		if (!decision.allowed() && !decision.neverFits()) {
			long seconds = decision.retryAfter().plusMillis(999).toSeconds();
			headers.put("Retry-After", String.valueOf(Math.max(1, seconds)));
		}
		return new Response(decision.allowed(), headers);
	}

	private static Map<String, String> headers(Config config, long remaining) {
		Map<String, String> headers = new HashMap<>();
		headers.put("X-RateLimit-Remaining", String.valueOf(remaining));
		headers.put("X-RateLimit-Replenish-Rate", String.valueOf(config.replenishRate));
		headers.put("X-RateLimit-Burst-Capacity", String.valueOf(config.burstCapacity));
		headers.put("X-RateLimit-Requested-Tokens", String.valueOf(config.requestedTokens));
		return headers;
	}

	/**
	 * What a route says, by the names of the gateway's own limiter.
	 */
	public static class Config {

		private int replenishRate = 1;

		private long burstCapacity = 1;

		private int requestedTokens = 1;

		/**
		 * Tokens that come in per second.
		 */
		public int getReplenishRate() {
			return this.replenishRate;
		}

		public Config setReplenishRate(int replenishRate) {
			this.replenishRate = replenishRate;
			return this;
		}

		/**
		 * Tokens that can be taken at once; 0 refuses everything.
		 */
		public long getBurstCapacity() {
			return this.burstCapacity;
		}

		public Config setBurstCapacity(long burstCapacity) {
			this.burstCapacity = burstCapacity;
			return this;
		}

		/**
		 * Tokens that a request costs.
		 */
		public int getRequestedTokens() {
			return this.requestedTokens;
		}

		public Config setRequestedTokens(int requestedTokens) {
			this.requestedTokens = requestedTokens;
			return this;
		}

		private Quota quota() {
			return new Quota(this.replenishRate, Duration.ofSeconds(1), this.burstCapacity);
		}

	}

}
