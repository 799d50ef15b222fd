package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
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
import dev.ratelimit.web.reactive.ExchangeAnswer;

/**
 * Answers refusals on the reactive stack. It is an advice too, because those are asked
 * first for controllers, and an application's handler for all exceptions would make a 500
 * of them. Where the application has a handler for refusals, that one answers.
 */
@ControllerAdvice
public final class RateLimitedWebExceptionHandler implements WebExceptionHandler, Ordered, ApplicationContextAware {

	private static final String REFUSAL = RateLimitedWebExceptionHandler.class.getName() + ".refusal";

	private static final Method THROW = Objects.requireNonNull(
			ReflectionUtils.findMethod(RateLimitedWebExceptionHandler.class, "throwRefusal", ServerWebExchange.class));

	private final HttpAnswers answers;

	private final CallTrace.Source traces;

	private @Nullable ApplicationContext context;

	private @Nullable RefusalHandlers handlers;

	public RateLimitedWebExceptionHandler(HttpAnswers answers, CallTrace.Source traces) {
		this.answers = answers;
		this.traces = traces;
	}

	@Override
	public void setApplicationContext(ApplicationContext context) {
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
		ExchangeCurrentCall.forget(exchange);
		HandlerMethod advice = advice(exchange, refusal);
		return (advice != null) ? byAdvice(advice, exchange, refusal) : write(exchange, refusal);
	}

	/**
	 * Which handlers the application has.
	 */
	RefusalHandlers handlers() {
		return Objects.requireNonNull(this.handlers);
	}

	/** An advice that has failed once is not asked again. */
	private @Nullable HandlerMethod advice(ServerWebExchange exchange, RateLimitExceededException refusal) {
		if (this.handlers == null || exchange.getAttributes().putIfAbsent(REFUSAL, refusal) != null) {
			return null;
		}
		Object handler = exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
		Class<?> controller = (handler instanceof HandlerMethod method) ? method.getBeanType() : null;
		return this.handlers.find(controller, refusal.getClass()).inAdvice(THROW);
	}

	/** Spring looks for handlers where it believes that the exception comes from. */
	private Mono<Void> byAdvice(HandlerMethod advice, ServerWebExchange exchange, RateLimitExceededException refusal) {
		ApplicationContext context = Objects.requireNonNull(this.context);
		return context.getBeanProvider(HandlerAdapter.class)
			.orderedStream()
			.filter((adapter) -> adapter.supports(advice))
			.findFirst()
			.map((adapter) -> adapter.handle(exchange, advice).flatMap((result) -> answer(result, exchange, context)))
			.orElseGet(() -> write(exchange, refusal));
	}

	private static Mono<Void> answer(HandlerResult result, ServerWebExchange exchange, ApplicationContext context) {
		return context.getBeanProvider(HandlerResultHandler.class)
			.orderedStream()
			.filter((handler) -> handler.supports(result))
			.findFirst()
			.map((handler) -> handler.handleResult(exchange, result))
			.orElseGet(() -> Mono.error(new IllegalStateException("no handler for " + result.getReturnType())));
	}

	private Mono<Void> write(ServerWebExchange exchange, RateLimitExceededException refusal) {
		return Mono.deferContextual((context) -> {
			CallTrace trace = this.traces.find(context.getOrDefault(CallTrace.Source.CONTEXT_KEY, null));
			return ExchangeAnswer.write(this.answers.answer(refusal.decision(), trace.id()), exchange.getResponse());
		});
	}

	static void throwRefusal(ServerWebExchange exchange) {
		throw (RateLimitExceededException) exchange.getRequiredAttribute(REFUSAL);
	}

}
