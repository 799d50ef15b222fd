package dev.ratelimit.aop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Answers refused calls of a method. It is called on the bean itself and so not checked.
 *
 * @param method the fallback
 * @param takesRefusal whether its last parameter is the exception
 */
record FallbackMethod(Method method, boolean takesRefusal) {

	/**
	 * Finds the fallback of a method.
	 * @throws IllegalArgumentException if there is none with a fitting signature
	 */
	static FallbackMethod find(String name, Method method, Class<?> type) {
		if (KotlinDetector.isSuspendingFunction(method)) {
			throw new IllegalArgumentException("fallbackMethod '" + name
					+ "' cannot be used on a suspending function: catch RateLimitExceededException instead");
		}
		Class<?>[] parameters = method.getParameterTypes();
		for (Class<?> last = RateLimitExceededException.class; last != Object.class; last = last.getSuperclass()) {
			Class<?>[] more = Arrays.copyOf(parameters, parameters.length + 1);
			more[parameters.length] = last;
			Method found = find(name, type, method, more);
			if (found != null) {
				return new FallbackMethod(found, true);
			}
		}
		Method found = find(name, type, method, parameters);
		if (found == null) {
			throw new IllegalArgumentException("there is no fallbackMethod '" + name + "' in " + type.getSimpleName()
					+ " with the same parameters, perhaps followed by a RateLimitExceededException, and the return type "
					+ ResolvableType.forMethodReturnType(method, type));
		}
		return new FallbackMethod(found, false);
	}

	private static @Nullable Method find(String name, Class<?> type, Method method, Class<?>[] parameters) {
		Method found = ReflectionUtils.findMethod(type, name, parameters);
		boolean fits = found != null && !found.equals(method)
				&& ClassUtils.isAssignable(method.getReturnType(), found.getReturnType())
				&& genericsFit(method, found, type);
		if (found != null && fits) {
			ReflectionUtils.makeAccessible(found);
			return found;
		}
		return null;
	}

	/** Otherwise the wrong type would only be noticed where the value is used. */
	private static boolean genericsFit(Method method, Method found, Class<?> type) {
		boolean fit = fits(ResolvableType.forMethodReturnType(method, type),
				ResolvableType.forMethodReturnType(found, type));
		for (int i = 0; i < method.getParameterCount() && fit; i++) {
			fit = fits(ResolvableType.forMethodParameter(found, i, type),
					ResolvableType.forMethodParameter(method, i, type));
		}
		return fit;
	}

	/** Types whose arguments are not known are taken as they are. */
	private static boolean fits(ResolvableType wanted, ResolvableType given) {
		boolean known = wanted.hasGenerics() && given.hasGenerics() && !wanted.hasUnresolvableGenerics()
				&& !given.hasUnresolvableGenerics();
		return !known || wanted.isAssignableFrom(given);
	}

	@Nullable Object call(MethodInvocation invocation, RateLimitExceededException refusal) throws Throwable {
		@Nullable Object[] arguments = invocation.getArguments();
		if (this.takesRefusal) {
			arguments = Arrays.copyOf(arguments, arguments.length + 1);
			arguments[arguments.length - 1] = refusal;
		}
		try {
			return this.method.invoke(invocation.getThis(), arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
