package dev.ratelimit.web.reactive;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.UrlCheck;
import dev.ratelimit.web.UrlLimit;
import dev.ratelimit.web.WebCall;

/**
 * Limits by URL on the reactive stack and in its gateway.
 */
public final class UrlLimitWebFilter implements WebFilter, Ordered {

	private final UrlCheck check;

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private final ExchangeCorsHeaders cors;

	private final RefusedConnections connections;

	private final ApplicationContext context;

	private final int order;

	private final BooleanSupplier readsResponses;

	private final EventLoops loops = new EventLoops();

	/**
	 * Creates the filter.
	 * @param cors gives refused requests of other origins their headers
	 * @param connections closes connections with many refused requests
	 * @param context the application; a management server on a port of its own has a
	 * context of its own, which inherits this filter
	 * @param readsResponses whether responses may name the true cost, also to handlers
	 */
	public UrlLimitWebFilter(UrlCheck check, HttpAnswers answers, CallTrace.Source traces, ExchangeCorsHeaders cors,
			RefusedConnections connections, ApplicationContext context, int order, BooleanSupplier readsResponses) {
		this.check = check;
		this.answers = answers;
		this.traces = traces;
		this.cors = cors;
		this.connections = connections;
		this.context = context;
		this.order = order;
		this.readsResponses = readsResponses;
	}

	@Override
	public int getOrder() {
		return this.order;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange given, WebFilterChain chain) {
		ApplicationContext server = given.getApplicationContext();
		if (server != null && server != this.context) {
			return chain.filter(given);
		}
		ServerWebExchange exchange = this.readsResponses.getAsBoolean()
				? given.mutate().response(new TappedResponse(given)).build() : given;
		List<UrlLimit> entries = this.check.matching(ExchangeWebCall.anonymous(exchange));
		if (entries.isEmpty() || CorsUtils.isPreFlightRequest(exchange.getRequest())) {
			return chain.filter(exchange);
		}
		return Mono.deferContextual((context) -> {
			CallTrace trace = this.traces.find(context.getOrDefault(CallTrace.Source.CONTEXT_KEY, null));
			return ExchangeWebCall.routed(exchange)
				.flatMap((calls) -> decide(entries, calls, exchange, trace))
				.flatMap((verdict) -> {
					HttpAnswer refusal = verdict.answer(this.answers, trace);
					if (refusal == null || verdict.refusal() == null) {
						this.connections.passed(exchange);
						return chain.filter(exchange);
					}
					// Here: an origin that is not allowed gets the answer of CORS
					// instead.
					ExchangeDecisions.giveBack(exchange);
					return this.connections.refused(verdict.refusal(), exchange,
							this.cors.write(exchange, () -> ExchangeDecisions.refuse(refusal, exchange)));
				});
		});
	}

	/** Continues on the event loop of the exchange. */
	private Mono<UrlCheck.Verdict> decide(List<UrlLimit> entries, Function<String, WebCall> calls,
			ServerWebExchange exchange, CallTrace trace) {
		return this.loops
			.decided(this.check.decide(entries, calls, ExchangeDecisions.of(exchange, this.answers), trace), exchange);
	}

}
