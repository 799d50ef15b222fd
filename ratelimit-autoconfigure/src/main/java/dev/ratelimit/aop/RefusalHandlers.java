package dev.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;

/**
 * Finds the application's handlers for refusals. A handler that names
 * {@link RateLimitExceededException} or a subtype takes precedence; a handler for all
 * exceptions must not see refusals, as it would answer with 500. No order among advices
 * achieves both, so each type of controller is inspected, once.
 */
final class RefusalHandlers {

	private final SingletonSupplier<List<ControllerAdviceBean>> advices;

	private final Map<Class<?>, ExceptionHandlerMethodResolver> resolvers = new ConcurrentHashMap<>();

	private final Map<Case, Found> found = new ConcurrentHashMap<>();

	/**
	 * @param own the limiter's own advice, {@code null} if there is none
	 */
	RefusalHandlers(ApplicationContext context, @Nullable Class<?> own) {
		this.advices = SingletonSupplier.of(() -> ControllerAdviceBean.findAnnotatedBeans(context)
			.stream()
			.filter((advice) -> advice.getBeanType() != own)
			.toList());
	}

	/**
	 * The handlers of a refusal.
	 * @param controller the controller that was called, {@code null} if there is none
	 * @param refusal type of the refusal
	 */
	Found find(@Nullable Class<?> controller, Class<? extends RateLimitExceededException> refusal) {
		Class<?> type = (controller != null) ? controller : Void.class;
		return this.found.computeIfAbsent(new Case(type, refusal), (absent) -> search(controller, refusal));
	}

	/**
	 * The handlers of a refusal that the limiter throws in a controller.
	 */
	Found find(Class<?> controller) {
		return find(controller, RateLimitErrorResponseException.class);
	}

	private Found search(@Nullable Class<?> controller, Class<? extends RateLimitExceededException> refusal) {
		Method own = (controller != null) ? method(controller, refusal) : null;
		if (own != null && namesRefusals(own)) {
			return new Found(true, false, null, null);
		}
		for (ControllerAdviceBean advice : this.advices.obtain()) {
			Class<?> type = advice.getBeanType();
			Method method = (type != null && advice.isApplicableToBeanType(controller)) ? method(type, refusal) : null;
			if (method != null && namesRefusals(method)) {
				return new Found(false, own != null, advice, method);
			}
		}
		return new Found(false, own != null, null, null);
	}

	private @Nullable Method method(Class<?> type, Class<? extends RateLimitExceededException> refusal) {
		return this.resolvers.computeIfAbsent(type, ExceptionHandlerMethodResolver::new)
			.resolveMethodByExceptionType(refusal);
	}

	private static boolean namesRefusals(Method method) {
		ExceptionHandler annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
		Class<?>[] named = (annotation != null) ? annotation.value() : new Class<?>[0];
		return Arrays.stream((named.length > 0) ? named : method.getParameterTypes())
			.anyMatch(RateLimitExceededException.class::isAssignableFrom);
	}

	/**
	 * The handlers of a refusal.
	 *
	 * @param inController whether the controller handles refusals, where Spring looks
	 * first
	 * @param caughtByController whether the controller would handle a refusal like any
	 * other exception
	 * @param advice the advice that handles refusals, {@code null} if there is none
	 * @param method the method of this advice
	 */
	record Found(boolean inController, boolean caughtByController, @Nullable ControllerAdviceBean advice,
			@Nullable Method method) {

		/**
		 * A method of the advice as if the advice were the controller, so that Spring
		 * finds its handler before any other; {@code null} if there is no advice.
		 */
		@Nullable HandlerMethod inAdvice(@Nullable Method method) {
			return (this.advice != null && method != null) ? new HandlerMethod(this.advice.resolveBean(), method)
					: null;
		}

	}

	private record Case(Class<?> controller, Class<?> refusal) {
	}

}
