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
 * Which handlers an application has for refusals. One that names
 * {@link RateLimitExceededException} or a subtype is meant for them and wins; one for all
 * exceptions is not, and would make a 500 of them. No order among advices can do both, so
 * that each type of controller is looked at, once.
 */
final class RefusalHandlers {

	private final SingletonSupplier<List<ControllerAdviceBean>> advices;

	private final Map<Class<?>, ExceptionHandlerMethodResolver> resolvers = new ConcurrentHashMap<>();

	private final Map<Case, Found> found = new ConcurrentHashMap<>();

	/**
	 * Creates one.
	 * @param own the advice that is ours, {@code null} if there is none
	 */
	RefusalHandlers(ApplicationContext context, @Nullable Class<?> own) {
		this.advices = SingletonSupplier.of(() -> ControllerAdviceBean.findAnnotatedBeans(context)
			.stream()
			.filter((advice) -> advice.getBeanType() != own)
			.toList());
	}

	/**
	 * What handles a refusal.
	 * @param controller whose handler was called, {@code null} if it was something else
	 * @param refusal type of the refusal
	 */
	Found find(@Nullable Class<?> controller, Class<? extends RateLimitExceededException> refusal) {
		Class<?> type = (controller != null) ? controller : Void.class;
		return this.found.computeIfAbsent(new Case(type, refusal), (absent) -> search(controller, refusal));
	}

	/**
	 * What handles what the limiter throws in a controller.
	 */
	Found find(Class<?> controller) {
		return find(controller, RateLimitErrorResponseException.class);
	}

	private Found search(@Nullable Class<?> controller, Class<? extends RateLimitExceededException> refusal) {
		Method own = (controller != null) ? method(controller, refusal) : null;
		if (own != null && isMeantFor(own)) {
			return new Found(Place.CONTROLLER, null, own);
		}
		Place place = (own != null) ? Place.CATCH_ALL : Place.NONE;
		for (ControllerAdviceBean advice : this.advices.obtain()) {
			Class<?> type = advice.getBeanType();
			Method method = (type != null && advice.isApplicableToBeanType(controller)) ? method(type, refusal) : null;
			if (method != null && isMeantFor(method)) {
				return new Found(place, advice, method);
			}
		}
		return new Found(place, null, null);
	}

	private @Nullable Method method(Class<?> type, Class<? extends RateLimitExceededException> refusal) {
		return this.resolvers.computeIfAbsent(type, ExceptionHandlerMethodResolver::new)
			.resolveMethodByExceptionType(refusal);
	}

	private static boolean isMeantFor(Method method) {
		ExceptionHandler annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
		Class<?>[] named = (annotation != null) ? annotation.value() : new Class<?>[0];
		return Arrays.stream((named.length > 0) ? named : method.getParameterTypes())
			.anyMatch(RateLimitExceededException.class::isAssignableFrom);
	}

	/** What a controller itself has for refusals. */
	private enum Place {

		CONTROLLER, CATCH_ALL, NONE

	}

	/**
	 * The handler of a refusal.
	 */
	static final class Found {

		private final Place place;

		private final @Nullable ControllerAdviceBean advice;

		private final @Nullable Method method;

		Found(Place place, @Nullable ControllerAdviceBean advice, @Nullable Method method) {
			this.place = place;
			this.advice = advice;
			this.method = method;
		}

		/**
		 * Whether it is in the controller, where Spring looks first.
		 */
		boolean inController() {
			return this.place == Place.CONTROLLER;
		}

		/**
		 * Whether the controller would handle the refusal like any other exception.
		 */
		boolean isCaughtByController() {
			return this.place == Place.CATCH_ALL;
		}

		/**
		 * For a handler in an advice: that bean as if it were the controller, so that
		 * Spring finds the handler before any other. {@code null} if there is none.
		 */
		@Nullable HandlerMethod inAdvice() {
			return inAdvice(this.method);
		}

		/**
		 * The same, with another method.
		 */
		@Nullable HandlerMethod inAdvice(@Nullable Method method) {
			return (this.advice != null && method != null) ? new HandlerMethod(this.advice.resolveBean(), method)
					: null;
		}

	}

	private record Case(Class<?> controller, Class<?> refusal) {

	}

}
