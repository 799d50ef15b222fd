package dev.ratelimit.gateway;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.support.HasRouteId;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.reactive.ReactiveRateLimiter;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.reactive.EventLoops;
import dev.ratelimit.web.reactive.ExchangeWebCall;

/**
 * The filter for routes: {@code - RateLimit=orders}, {@code - RateLimit=orders,5}, or in
 * the long form with {@code policy}, {@code cost} and {@code dimensions}.
 *
 * <p>
 * Resolves the request, checks it, and lets it pass or answers. Several of these on one
 * route hold together: what the earlier ones took is given back when a later one turns
 * the request away, and headers are written once for all of them.
 */
public class RateLimitGatewayFilterFactory extends AbstractGatewayFilterFactory<RateLimitGatewayFilterFactory.Config> {

	private final RateLimiter limiter;

	private final RequestResolver resolver;

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private final EventLoops loops = new EventLoops();

	public RateLimitGatewayFilterFactory(RateLimiter limiter, RequestResolver resolver, HttpAnswers answers,
			CallTrace.Source traces) {
		super(Config.class);
		this.limiter = limiter;
		this.resolver = resolver;
		this.answers = answers;
		this.traces = traces;
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
				return ExchangeWebCall.of(exchange, config.getRouteId())
					.flatMap((call) -> ReactiveRateLimiter.decided(check(call, config, policy),
							RateLimitGatewayFilterFactory.this.loops.of(exchange)))
					.flatMap((decision) -> obey(decision, exchange, chain));
			}

			@Override
			public String toString() {
				return "RateLimit=" + policy + ((config.getCost() != null) ? "," + config.getCost() : "");
			}

		};
	}

	private Mono<Void> obey(Decision decision, ServerWebExchange exchange, GatewayFilterChain chain) {
		return Mono.deferContextual((context) -> RouteDecisions.of(exchange, this.answers)
			.proceed(decision, this.traces.find(context.getOrDefault(CallTrace.Source.CONTEXT_KEY, null)), chain));
	}

	private CompletionStage<Decision> check(WebCall call, Config config, String policy) {
		return this.resolver.resolve(call, policy, config.getCost(), config.getDimensions())
			.handle((request, failure) -> (failure == null) ? this.limiter.check(request)
					: this.limiter.degrade(this.resolver.requestFor(call, policy, config.getCost()), failure))
			.thenCompose(Function.identity());
	}

	/**
	 * What a route says about its filter.
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
