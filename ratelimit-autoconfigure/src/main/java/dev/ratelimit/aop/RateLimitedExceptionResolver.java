package dev.ratelimit.aop;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Supplier;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.core.Ordered;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

import dev.ratelimit.web.HttpAnswer;
import dev.ratelimit.web.HttpAnswers;

/**
 * Answers refusals on the servlet stack, before an application's handler for all
 * exceptions makes a 500 of them. Where the application has a handler for refusals, that
 * one answers.
 */
public final class RateLimitedExceptionResolver implements HandlerExceptionResolver, Ordered, ApplicationContextAware {

	private final HttpAnswers answers;

	private final Supplier<@Nullable String> traceId;

	private @Nullable ApplicationContext context;

	private @Nullable RefusalHandlers handlers;

	public RateLimitedExceptionResolver(HttpAnswers answers, Supplier<@Nullable String> traceId) {
		this.answers = answers;
		this.traceId = traceId;
	}

	@Override
	public void setApplicationContext(ApplicationContext context) {
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
		if (this.handlers != null) {
			Class<?> controller = (handler instanceof HandlerMethod method) ? method.getBeanType() : null;
			RefusalHandlers.Found found = this.handlers.find(controller, refusal.getClass());
			ModelAndView answer = found.inController() ? null : byAdvice(found.inAdvice(), request, response, refusal);
			if (found.inController() || answer != null) {
				return answer;
			}
		}
		try {
			write(this.answers.answer(refusal.decision(), this.traceId.get()), response);
		}
		catch (IOException gone) {
			// Nobody is left to be told.
		}
		return new ModelAndView();
	}

	private @Nullable ModelAndView byAdvice(@Nullable HandlerMethod advice, HttpServletRequest request,
			HttpServletResponse response, RateLimitExceededException refusal) {
		if (advice == null || this.context == null) {
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

	private static void write(HttpAnswer answer, HttpServletResponse response) throws IOException {
		response.resetBuffer();
		response.setStatus(answer.status());
		answer.headers().forEach(response::setHeader);
		if (answer.body() != null) {
			byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
			response.setContentType(HttpAnswer.PROBLEM_JSON);
			response.setContentLength(body.length);
			response.getOutputStream().write(body);
			response.flushBuffer();
		}
	}

}
