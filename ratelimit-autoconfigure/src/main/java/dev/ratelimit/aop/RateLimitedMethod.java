package dev.ratelimit.aop;

import java.util.List;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * A method with {@link RateLimited}, read once.
 *
 * @param name class and method, which is also the route outside of HTTP
 * @param limits one for each annotation, at least one
 * @param returnType declared by the bean; an interface of it may declare a supertype
 * @param returns how the method gives its result
 * @param handler whether it handles HTTP requests
 * @param decision index of the parameter that gets the decision, negative if there is
 * none
 * @param fallback answers refused calls, {@code null} if they throw
 */
record RateLimitedMethod(String name, List<MethodLimit> limits, Class<?> returnType, ReturnKind returns,
		boolean handler, int decision, @Nullable FallbackMethod fallback) {

	RateLimitedMethod {
		limits = List.copyOf(limits);
	}

	boolean names(String policy) {
		return this.limits.stream().anyMatch((limit) -> limit.policy().equals(policy));
	}

	/**
	 * Passes the decision to a method that declares a parameter for it.
	 */
	void pass(MethodVerdict verdict, @Nullable Object[] arguments) {
		if (this.decision >= 0) {
			arguments[this.decision] = verdict.shown();
		}
	}

	/**
	 * The answer to a refused call.
	 * @throws RateLimitExceededException if the method has no fallback
	 */
	@Nullable Object refused(MethodInvocation invocation, RateLimitExceededException refusal) throws Throwable {
		if (this.fallback == null) {
			throw refusal;
		}
		return this.fallback.call(invocation, refusal);
	}

	/**
	 * Whether other code calls the method and waits for its result: on a thread that must
	 * not block, only a decision that is available at once can be applied.
	 */
	boolean isPlainBeanMethod() {
		return !this.handler && this.returns == ReturnKind.VALUE;
	}

	/**
	 * Whether the decision depends on the arguments.
	 */
	boolean needsArguments() {
		return this.limits.stream().anyMatch(MethodLimit::needsArguments);
	}

}
