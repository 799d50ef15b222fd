package dev.ratelimit.aop;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Decision;
import dev.ratelimit.Quota;

/**
 * {@link RateLimited} on one method, read once.
 *
 * @param name class and method, which is also the route outside of HTTP
 * @param policy id of the policy
 * @param returnType declared by the bean; an interface of it may declare a supertype
 * @param returns how the method gives its result
 * @param handler whether it handles HTTP requests
 * @param constantCost the cost if it is a number and no expression
 * @param cost the cost if it is an expression
 * @param key expression for the dimension {@code key}
 * @param decision index of the parameter that gets the decision, negative if there is
 * none
 * @param fallback answers refused calls, {@code null} if they throw
 */
record RateLimitedMethod(String name, String policy, Class<?> returnType, ReturnKind returns, boolean handler,
		@Nullable Long constantCost, @Nullable ArgumentExpression cost, @Nullable ArgumentExpression key, int decision,
		@Nullable FallbackMethod fallback) {

	/**
	 * Passes the decision to a method that declares a parameter for it.
	 */
	void pass(Decision made, @Nullable Object[] arguments) {
		if (this.decision >= 0) {
			arguments[this.decision] = made;
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
	 * Whether cost or key depend on the arguments.
	 */
	boolean needsArguments() {
		return this.cost != null || this.key != null;
	}

	/**
	 * The cost of a call, {@code null} if the policy decides it. Arguments may come from
	 * the caller, so a result out of range must neither fail the check nor be free.
	 */
	@Nullable Long cost(@Nullable Object[] arguments) {
		if (this.cost == null) {
			return this.constantCost;
		}
		if (!(evaluate("cost", this.cost, arguments) instanceof Number number)) {
			throw new CallNotCheckedException("cost '" + this.cost.text() + "' of " + this.name + " is no number");
		}
		double cost = Math.ceil(number.doubleValue());
		// NaN is not below 0 either.
		return (cost >= 0) ? (long) Math.min(cost, Quota.MAX_PERMITS) : 1;
	}

	/**
	 * The value of the dimension {@code key}, {@code null} if there is none.
	 */
	@Nullable String key(@Nullable Object[] arguments) {
		Object value = (this.key != null) ? evaluate("key", this.key, arguments) : null;
		// The text of other types could differ from call to call or be shared.
		if (this.key != null && value != null && !ClassUtils.isSimpleValueType(value.getClass())) {
			throw new CallNotCheckedException("key '" + this.key.text() + "' of " + this.name
					+ " is neither a text nor a number but a " + value.getClass().getName());
		}
		return (value != null) ? value.toString() : null;
	}

	private @Nullable Object evaluate(String what, ArgumentExpression expression, @Nullable Object[] arguments) {
		try {
			return expression.value(arguments);
		}
		catch (RuntimeException ex) {
			// Without the cause, whose message may hold an argument.
			throw new CallNotCheckedException(what + " '" + expression.text() + "' of " + this.name
					+ " could not be evaluated: " + ex.getClass().getSimpleName());
		}
	}

}
