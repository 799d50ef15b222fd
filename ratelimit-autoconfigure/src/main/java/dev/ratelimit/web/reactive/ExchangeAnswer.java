package dev.ratelimit.web.reactive;

import java.nio.charset.StandardCharsets;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.HttpAnswer;

/**
 * Writes answers on the reactive stack, for the gateway and for controllers alike.
 */
public final class ExchangeAnswer {

	private ExchangeAnswer() {
	}

	/**
	 * Sets the headers of an answer, over whatever the response has under their names.
	 */
	public static void setHeaders(HttpAnswer answer, ServerHttpResponse response) {
		answer.headers().forEach(response.getHeaders()::set);
	}

	/**
	 * Answers a request that was turned away.
	 */
	public static Mono<Void> write(HttpAnswer answer, ServerHttpResponse response) {
		response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
		setHeaders(answer, response);
		if (answer.body() == null) {
			return response.setComplete();
		}
		DataBuffer body = response.bufferFactory().wrap(answer.body().getBytes(StandardCharsets.UTF_8));
		response.getHeaders().set("Content-Type", HttpAnswer.PROBLEM_JSON);
		response.getHeaders().set("Content-Length", Integer.toString(body.readableByteCount()));
		return response.writeWith(Mono.just(body));
	}

}
