package dev.ratelimit.aop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import dev.ratelimit.Decision;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.WebCall;
import dev.ratelimit.web.reactive.ExchangeWebCall;

/**
 * The exchange in whose context something is subscribed to.
 */
final class ExchangeCurrentCall implements CurrentCall {

	private static final String DECISIONS = ExchangeCurrentCall.class.getName() + ".decisions";

	private final ServerWebExchange exchange;

	private final WebCall facts;

	private ExchangeCurrentCall(ServerWebExchange exchange, WebCall facts) {
		this.exchange = exchange;
		this.facts = facts;
	}

	/**
	 * The call that {@link ExchangeContextWebFilter} left in the context, {@code null} if
	 * it was not there.
	 */
	static @Nullable Mono<CurrentCall> find(ContextView context) {
		ServerWebExchange exchange = context.getOrDefault(ServerWebExchange.class, null);
		return (exchange != null)
				? ExchangeWebCall.of(exchange).map((facts) -> new ExchangeCurrentCall(exchange, facts)) : null;
	}

	/**
	 * Takes back what was announced: a refusal has headers of its own.
	 */
	static void forget(ServerWebExchange exchange) {
		List<Decision> decisions = exchange.getAttribute(DECISIONS);
		if (decisions != null) {
			decisions.clear();
		}
	}

	@Override
	public WebCall facts() {
		return this.facts;
	}

	@Override
	public void announce(Decision decision, HttpAnswers answers) {
		List<Decision> decisions = new CopyOnWriteArrayList<>(List.of(decision));
		@SuppressWarnings("unchecked")
		List<Decision> before = (List<Decision>) this.exchange.getAttributes().putIfAbsent(DECISIONS, decisions);
		if (before != null) {
			before.add(decision);
			return;
		}
		ServerHttpResponse response = this.exchange.getResponse();
		// As late as possible, so that they replace what the handler sets.
		response.beforeCommit(() -> {
			answers.answer(decisions, null).headers().forEach(response.getHeaders()::set);
			return Mono.empty();
		});
	}

}
