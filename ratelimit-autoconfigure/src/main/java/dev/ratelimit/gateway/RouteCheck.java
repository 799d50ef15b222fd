package dev.ratelimit.gateway;

import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.reactive.EventLoops;
import dev.ratelimit.web.reactive.ExchangeDecisions;
import dev.ratelimit.web.reactive.ExchangeWebCall;
import dev.ratelimit.web.reactive.RefusedConnections;

/**
 * Checks the requests of routes of the gateway on WebFlux, and lets them pass or answers.
 */
final class RouteCheck {

	private final CallCheck check;

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private final RefusedConnections connections;

	private final EventLoops loops = new EventLoops();

	RouteCheck(RateLimiter limiter, RequestResolver resolver, HttpAnswers answers, CallTrace.Source traces,
			RefusedConnections connections) {
		this.check = new CallCheck(resolver, limiter);
		this.answers = answers;
		this.traces = traces;
		this.connections = connections;
	}

	/**
	 * Checks an exchange against one filter of its route.
	 * @param chain the filters behind it and the upstream
	 */
	Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain, String policy,
			RateLimitGatewayFilterFactory.Config config) {
		return ExchangeWebCall.of(exchange, config.getRouteId())
			.flatMap((call) -> decide(call, policy, config, exchange)
				.flatMap((decision) -> enforce(decision, config, exchange, chain)));
	}

	private Mono<Decision> decide(WebCall call, String policy, RateLimitGatewayFilterFactory.Config config,
			ServerWebExchange exchange) {
		CallDecisions charged = config.isAlone() ? null : exchange.getAttribute(CallDecisions.ATTRIBUTE);
		CallCheck.Subject subject = new CallCheck.Subject(call, policy, config.getCost(), config.getDimensions(),
				charged, null);
		return this.loops.decided(this.check.decide(subject), exchange);
	}

	/** Lets the exchange pass or refuses it. */
	private Mono<Void> enforce(Decision decision, RateLimitGatewayFilterFactory.Config config,
			ServerWebExchange exchange, GatewayFilterChain chain) {
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

}
