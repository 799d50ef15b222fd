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

import dev.ratelimit.Decision;
import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.reactive.EventLoops;
import dev.ratelimit.web.reactive.ExchangeDecisions;
import dev.ratelimit.web.reactive.ExchangeWebCall;
import dev.ratelimit.web.reactive.RefusedConnections;

/**
 * The filter for routes: {@code - RateLimit=orders}, {@code - RateLimit=orders,5}, or in
 * the long form with {@code policy}, {@code cost} and {@code dimensions}.
 *
 * <p>
 * Resolves the request, checks it, and lets it pass or answers. Several of these on one
 * route hold together, see {@link dev.ratelimit.web.CallDecisions}.
 */
public class RateLimitGatewayFilterFactory extends AbstractGatewayFilterFactory<RateLimitGatewayFilterFactory.Config> {

	private final CallCheck check;

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private final RefusedConnections connections;

	private final EventLoops loops = new EventLoops();

	public RateLimitGatewayFilterFactory(RateLimiter limiter, RequestResolver resolver, HttpAnswers answers,
			CallTrace.Source traces, RefusedConnections connections) {
		super(Config.class);
		this.check = new CallCheck(resolver, limiter);
		this.answers = answers;
		this.traces = traces;
		this.connections = connections;
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
					.flatMap((call) -> decide(call, policy, config, exchange)
						.flatMap((decision) -> enforce(decision, config, exchange, chain)));
			}

			@Override
			public String toString() {
				return "RateLimit=" + policy + ((config.getCost() != null) ? "," + config.getCost() : "");
			}

		};
	}

	private Mono<Decision> decide(WebCall call, String policy, Config config, ServerWebExchange exchange) {
		CallDecisions charged = config.isAlone() ? null : exchange.getAttribute(CallDecisions.ATTRIBUTE);
		CallCheck.Subject subject = new CallCheck.Subject(call, policy, config.getCost(), config.getDimensions(),
				charged, null);
		return this.loops.decided(this.check.decide(subject), exchange);
	}

	/** Lets the exchange pass or refuses it. */
	private Mono<Void> enforce(Decision decision, Config config, ServerWebExchange exchange, GatewayFilterChain chain) {
		CallDecisions.Edge edge = config.isAlone() ? CallDecisions.Edge.ALONE : CallDecisions.Edge.REQUEST;
		if (decision.allowed() && !ExchangeDecisions.of(exchange, this.answers).add(decision, edge, true)) {
			return chain.filter(exchange);
		}
		return Mono.deferContextual((context) -> {
			CallTrace trace = this.traces.decided(decision, context.getOrDefault(CallTrace.Source.CONTEXT_KEY, null));
			if (!decision.allowed()) {
				return this.connections.refused(decision, exchange, Mono
					.defer(() -> ExchangeDecisions.refuse(this.answers.answer(decision, trace.id()), exchange)));
			}
			this.connections.passed(exchange);
			return chain
				.filter((decision.receipt().settling() != null) ? SettlingResponse.readable(exchange) : exchange);
		});
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
		private boolean isAlone() {
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
