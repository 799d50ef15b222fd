package dev.ratelimit.aop;

import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;

/**
 * Answers refusals on the reactive stack. It is an advice too, because those are asked
 * first for controllers, and an application's handler for all exceptions would make a 500
 * of them.
 */
@ControllerAdvice
public final class RateLimitedWebExceptionHandler implements WebExceptionHandler, Ordered {

	private final HttpAnswers answers;

	private final Supplier<@Nullable String> traceId;

	public RateLimitedWebExceptionHandler(HttpAnswers answers, Supplier<@Nullable String> traceId) {
		this.answers = answers;
		this.traceId = traceId;
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange, Throwable ex) {
		RateLimitExceededException refusal = RateLimitExceededException.in(ex);
		return (refusal == null || exchange.getResponse().isCommitted()) ? Mono.error(ex) : refuse(exchange, refusal);
	}

	@ExceptionHandler
	Mono<Void> refuse(ServerWebExchange exchange, RateLimitExceededException refusal) {
		HttpAnswer answer = this.answers.answer(refusal.decision(), this.traceId.get());
		ServerHttpResponse response = exchange.getResponse();
		ExchangeCurrentCall.forget(exchange);
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
