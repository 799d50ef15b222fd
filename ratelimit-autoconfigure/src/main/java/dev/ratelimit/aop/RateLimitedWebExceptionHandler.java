package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.reactive.ExchangeDecisions;

/**
 * Answers refusals on the reactive stack. It is an advice too, because Spring asks
 * advices first for controllers, and an application's handler for all exceptions would
 * turn refusals into a 500. The application's own handler for refusals takes precedence.
 */
@ControllerAdvice
final class RateLimitedWebExceptionHandler implements WebExceptionHandler, Ordered {

	private static final String REFUSAL = RateLimitedWebExceptionHandler.class.getName() + ".refusal";

	private static final Method THROW = Objects.requireNonNull(
			ReflectionUtils.findMethod(RateLimitedWebExceptionHandler.class, "throwRefusal", ServerWebExchange.class));

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private final ApplicationContext context;

	private final RefusalHandlers handlers;

	RateLimitedWebExceptionHandler(HttpAnswers answers, CallTrace.Source traces, ApplicationContext context) {
		this.answers = answers;
		this.traces = traces;
		this.context = context;
		this.handlers = new RefusalHandlers(context, getClass());
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
		if (refusal.isOfHandler()) {
			ExchangeDecisions.giveBack(exchange);
		}
		else {
			ExchangeDecisions.of(exchange, this.answers).forget();
		}
		HandlerMethod advice = advice(exchange, refusal);
		return (advice != null) ? byAdvice(advice, exchange, refusal) : write(exchange, refusal);
	}

	RefusalHandlers handlers() {
		return this.handlers;
	}

	/** An advice that has failed once is not asked again. */
	private @Nullable HandlerMethod advice(ServerWebExchange exchange, RateLimitExceededException refusal) {
		if (exchange.getAttributes().putIfAbsent(REFUSAL, refusal) != null) {
			return null;
		}
		Object handler = exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
		Class<?> controller = (handler instanceof HandlerMethod method) ? method.getBeanType() : null;
		return this.handlers.find(controller, refusal.getClass()).inAdvice(THROW);
	}

	/** Spring looks for handlers in the class that the exception seems to come from. */
	private Mono<Void> byAdvice(HandlerMethod advice, ServerWebExchange exchange, RateLimitExceededException refusal) {
		return this.context.getBeanProvider(HandlerAdapter.class)
			.orderedStream()
			.filter((adapter) -> adapter.supports(advice))
			.findFirst()
			.map((adapter) -> adapter.handle(exchange, advice).flatMap((result) -> answer(result, exchange)))
			.orElseGet(() -> write(exchange, refusal));
	}

	private Mono<Void> answer(HandlerResult result, ServerWebExchange exchange) {
		return this.context.getBeanProvider(HandlerResultHandler.class)
			.orderedStream()
			.filter((handler) -> handler.supports(result))
			.findFirst()
			.map((handler) -> handler.handleResult(exchange, result))
			.orElseGet(() -> Mono.error(new IllegalStateException("no handler for " + result.getReturnType())));
	}

	private Mono<Void> write(ServerWebExchange exchange, RateLimitExceededException refusal) {
		return Mono.deferContextual((context) -> {
			CallTrace trace = this.traces.find(context.getOrDefault(CallTrace.Source.CONTEXT_KEY, null));
			return ExchangeDecisions.refuse(this.answers.answer(refusal.decision(), trace.id()), exchange);
		});
	}

	static void throwRefusal(ServerWebExchange exchange) {
		throw (RateLimitExceededException) exchange.getRequiredAttribute(REFUSAL);
	}

}
