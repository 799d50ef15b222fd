package dev.ratelimit.gateway;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.support.HasRouteId;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.reactive.RefusedConnections;

/**
 * The filter for routes: {@code - RateLimit=orders}, {@code - RateLimit=orders,5}, or in
 * the long form with {@code policy}, {@code cost} and {@code dimensions}. Several of
 * these on one route hold together, see {@link dev.ratelimit.web.CallDecisions}.
 */
public class RateLimitGatewayFilterFactory extends AbstractGatewayFilterFactory<RateLimitGatewayFilterFactory.Config> {

	/** {@code null} to let every request pass. */
	private final @Nullable RouteCheck check;

	public RateLimitGatewayFilterFactory(RateLimiter limiter, RequestResolver resolver, HttpAnswers answers,
			CallTrace.Source traces, RefusedConnections connections) {
		this(new RouteCheck(limiter, resolver, answers, traces, connections));
	}

	private RateLimitGatewayFilterFactory(@Nullable RouteCheck check) {
		super(Config.class);
		this.check = check;
	}

	/** Filters that let every request pass. */
	static RateLimitGatewayFilterFactory disabled() {
		return new RateLimitGatewayFilterFactory(null);
	}

	@Override
	public List<String> shortcutFieldOrder() {
		return List.of("policy", "cost");
	}

	@Override
	public GatewayFilter apply(Config config) {
		String policy = config.requirePolicy();
		return new GatewayFilter() {

			@Override
			public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
				RouteCheck check = RateLimitGatewayFilterFactory.this.check;
				return (check != null) ? check.filter(exchange, chain, policy, config) : chain.filter(exchange);
			}

			@Override
			public String toString() {
				return "RateLimit=" + policy + ((config.getCost() != null) ? "," + config.getCost() : "");
			}

		};
	}

	/**
	 * Arguments of the filter on one route.
	 */
	public static class Config implements HasRouteId {

		private @Nullable String policy;

		private @Nullable Long cost;

		private Map<String, DimensionResolver> dimensions = new HashMap<>();

		private @Nullable String routeId;

		public @Nullable String getPolicy() {
			return this.policy;
		}

		public Config setPolicy(@Nullable String policy) {
			this.policy = policy;
			return this;
		}

		public @Nullable Long getCost() {
			return this.cost;
		}

		public Config setCost(@Nullable Long cost) {
			this.cost = cost;
			return this;
		}

		public Map<String, DimensionResolver> getDimensions() {
			return this.dimensions;
		}

		public Config setDimensions(Map<String, DimensionResolver> dimensions) {
			this.dimensions = dimensions;
			return this;
		}

		@Override
		public void setRouteId(@Nullable String routeId) {
			this.routeId = routeId;
		}

		@Override
		public @Nullable String getRouteId() {
			return this.routeId;
		}

		/** Dimensions of its own may make it another counter than that of other edges. */
		boolean isAlone() {
			return !this.dimensions.isEmpty();
		}

		private String requirePolicy() {
			if (this.policy == null || this.policy.isBlank()) {
				throw new IllegalArgumentException("route '" + this.routeId
						+ "': the RateLimit filter needs a policy, write '- RateLimit=<policy>'");
			}
			if (this.cost != null && (this.cost < 0 || this.cost > Quota.MAX_PERMITS)) {
				throw new IllegalArgumentException(
						"route '" + this.routeId + "': the cost of the RateLimit filter must be 0 to "
								+ Quota.MAX_PERMITS + " but was " + this.cost);
			}
			RequestResolver.requireCustom(this.dimensions.keySet());
			return this.policy;
		}

	}

}
