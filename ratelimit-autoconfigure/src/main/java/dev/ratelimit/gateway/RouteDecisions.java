package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.List;

import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.reactive.ExchangeAnswer;

/**
 * What the filters of one route decided about one exchange, and what its response tells
 * of it. Headers are set when the response is committed, over whatever the upstream sent
 * under their names.
 */
final class RouteDecisions {

	private static final String ATTRIBUTE = RouteDecisions.class.getName();

	private final ServerWebExchange exchange;

	private final HttpAnswers answers;

	private final List<Decision> decisions = new ArrayList<>(2);

	private RouteDecisions(ServerWebExchange exchange, HttpAnswers answers) {
		this.exchange = exchange;
		this.answers = answers;
	}

	static RouteDecisions of(ServerWebExchange exchange, HttpAnswers answers) {
		RouteDecisions decisions = exchange.getAttribute(ATTRIBUTE);
		if (decisions == null) {
			decisions = new RouteDecisions(exchange, answers);
			exchange.getAttributes().put(ATTRIBUTE, decisions);
		}
		return decisions;
	}

	/**
	 * Lets the exchange pass, or answers it and gives back what earlier filters took.
	 */
	Mono<Void> proceed(Decision decision, CallTrace trace, GatewayFilterChain chain) {
		trace.decided(decision);
		boolean first = this.decisions.isEmpty();
		this.decisions.add(decision);
		if (!decision.allowed()) {
			return turnAway(trace);
		}
		if (first) {
			this.exchange.getResponse().beforeCommit(() -> Mono.fromRunnable(this::tell));
		}
		return chain.filter(this.exchange);
	}

	/**
	 * Not for one that was turned away: its answer is written, and a second would name
	 * another jittered wait.
	 */
	private void tell() {
		if (this.decisions.stream().allMatch(Decision::allowed)) {
			ExchangeAnswer.setHeaders(this.answers.answer(this.decisions, null), this.exchange.getResponse());
		}
	}

	private Mono<Void> turnAway(CallTrace trace) {
		this.decisions.stream().filter(Decision::allowed).forEach(Decision::giveBack);
		return ExchangeAnswer.write(this.answers.answer(this.decisions, trace.id()), this.exchange.getResponse());
	}

}
