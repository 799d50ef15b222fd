package dev.ratelimit.web.reactive;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

import dev.ratelimit.Settling;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;

/**
 * Applies decisions to an exchange, for the gateway and for controllers.
 */
public final class ExchangeDecisions {

	/** Of a response that sets no status. */
	private static final int OK = 200;

	private ExchangeDecisions() {
	}

	/**
	 * The decisions about an exchange. Their headers are set when the response is
	 * committed, in place of those of the upstream or the handler.
	 */
	public static CallDecisions of(ServerWebExchange exchange, HttpAnswers answers) {
		CallDecisions known = exchange.getAttribute(CallDecisions.ATTRIBUTE);
		if (known != null) {
			return known;
		}
		CallDecisions decisions = new CallDecisions();
		Object before = exchange.getAttributes().putIfAbsent(CallDecisions.ATTRIBUTE, decisions);
		if (before != null) {
			return (CallDecisions) before;
		}
		ServerHttpResponse response = exchange.getResponse();
		response.beforeCommit(
				() -> Mono.fromRunnable(() -> decisions.commit((settling) -> cost(settling, response), answers)
					.forEach(response.getHeaders()::set)));
		return decisions;
	}

	/**
	 * The true cost that status and headers of the response name, {@code null} if they
	 * name none.
	 */
	public static @Nullable Long cost(Settling settling, ServerHttpResponse response) {
		HttpStatusCode status = response.getStatusCode();
		String header = settling.header();
		return settling.byHead((status != null) ? status.value() : OK,
				(header != null) ? response.getHeaders().getFirst(header) : null);
	}

	/**
	 * Gives back the permits of earlier decisions, for an exchange that is refused.
	 */
	public static void giveBack(ServerWebExchange exchange) {
		CallDecisions decisions = exchange.getAttribute(CallDecisions.ATTRIBUTE);
		if (decisions != null) {
			decisions.giveBack();
		}
	}

	/**
	 * Refuses an exchange: answers it and gives back the permits of earlier decisions.
	 */
	public static Mono<Void> refuse(HttpAnswer answer, ServerWebExchange exchange) {
		giveBack(exchange);
		ServerHttpResponse response = exchange.getResponse();
		response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
		answer.headers().forEach(response.getHeaders()::set);
		if (answer.body() == null) {
			return response.setComplete();
		}
		DataBuffer body = response.bufferFactory().wrap(answer.body().getBytes(StandardCharsets.UTF_8));
		response.getHeaders().set("Content-Type", HttpAnswer.PROBLEM_JSON);
		response.getHeaders().set("Content-Length", Integer.toString(body.readableByteCount()));
		return response.writeWith(Mono.just(body));
	}

}
