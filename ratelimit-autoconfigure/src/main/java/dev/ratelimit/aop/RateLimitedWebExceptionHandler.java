package dev.ratelimit.aop;

import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.reactive.ExchangeAnswer;

/**
 * Answers refusals on the reactive stack. It is an advice too, because those are asked
 * first for controllers, and an application's handler for all exceptions would make a 500
 * of them.
 */
@ControllerAdvice
public final class RateLimitedWebExceptionHandler implements WebExceptionHandler, Ordered {

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	public RateLimitedWebExceptionHandler(HttpAnswers answers, CallTrace.Source traces) {
		this.answers = answers;
		this.traces = traces;
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
		ExchangeCurrentCall.forget(exchange);
		return Mono.deferContextual((context) -> {
			CallTrace trace = this.traces.find(context.getOrDefault(CallTrace.Source.CONTEXT_KEY, null));
			return ExchangeAnswer.write(this.answers.answer(refusal.decision(), trace.id()), exchange.getResponse());
		});
	}

}
