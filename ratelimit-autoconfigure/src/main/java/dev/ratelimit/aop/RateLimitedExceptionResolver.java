package dev.ratelimit.aop;

import java.io.IOException;
import java.util.Objects;
import java.util.function.Supplier;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.servlet.ServletDecisions;

/**
 * Answers refusals on the servlet stack, before an application's handler for all
 * exceptions turns them into a 500. The application's own handler for refusals takes
 * precedence.
 */
final class RateLimitedExceptionResolver implements HandlerExceptionResolver, Ordered {

	private final HttpAnswers answers;

	private final Supplier<@Nullable String> traceId;

	private final ApplicationContext context;

	private final RefusalHandlers handlers;

	RateLimitedExceptionResolver(HttpAnswers answers, Supplier<@Nullable String> traceId, ApplicationContext context) {
		this.answers = answers;
		this.traceId = traceId;
		this.context = context;
		this.handlers = new RefusalHandlers(context, null);
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		RateLimitExceededException refusal = RateLimitExceededException.in(ex);
		if (refusal == null || response.isCommitted()) {
			return null;
		}
		Class<?> controller = (handler instanceof HandlerMethod method) ? method.getBeanType() : null;
		RefusalHandlers.Found found = this.handlers.find(controller, refusal.getClass());
		if (found.inController()) {
			return null;
		}
		if (refusal.isOfHandler()) {
			ServletDecisions.giveBack(request);
		}
		else {
			ServletDecisions.of(request).forget();
		}
		ModelAndView answer = byAdvice(found.inAdvice(found.method()), request, response, refusal);
		if (answer != null) {
			return answer;
		}
		try {
			ServletDecisions.refuse(this.answers.answer(refusal.decision(), this.traceId.get()), request, response);
		}
		catch (IOException gone) {
			// The caller has closed the connection.
		}
		return new ModelAndView();
	}

	private @Nullable ModelAndView byAdvice(@Nullable HandlerMethod advice, HttpServletRequest request,
			HttpServletResponse response, RateLimitExceededException refusal) {
		if (advice == null) {
			return null;
		}
		return this.context.getBeanProvider(HandlerExceptionResolver.class)
			.orderedStream()
			.filter((resolver) -> resolver != this)
			.map((resolver) -> resolver.resolveException(request, response, advice, refusal))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

}
