package dev.ratelimit.gateway;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;

/**
 * What the filters of one route decided about one exchange, and the only place in the
 * gateway that writes HTTP. Headers are set when the response is committed, over whatever
 * the upstream sent under their names.
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
	Mono<Void> proceed(Decision decision, GatewayFilterChain chain) {
		boolean first = this.decisions.isEmpty();
		this.decisions.add(decision);
		if (!decision.allowed()) {
			return turnAway();
		}
		if (first) {
			this.exchange.getResponse().beforeCommit(() -> {
				write(this.answers.answer(this.decisions, null));
				return Mono.empty();
			});
		}
		return chain.filter(this.exchange);
	}

	private Mono<Void> turnAway() {
		this.decisions.stream().filter(Decision::allowed).forEach(Decision::giveBack);
		HttpAnswer answer = this.answers.answer(this.decisions, null);
		ServerHttpResponse response = this.exchange.getResponse();
		response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
		write(answer);
		String body = answer.body();
		if (body == null) {
			return response.setComplete();
		}
		response.getHeaders().set("Content-Type", HttpAnswer.PROBLEM_JSON);
		return response.writeWith(Mono.fromSupplier(() -> buffer(response, body)));
	}

	private void write(HttpAnswer answer) {
		answer.headers().forEach(this.exchange.getResponse().getHeaders()::set);
	}

	private static DataBuffer buffer(ServerHttpResponse response, String body) {
		return response.bufferFactory().wrap(body.getBytes(StandardCharsets.UTF_8));
	}

}
