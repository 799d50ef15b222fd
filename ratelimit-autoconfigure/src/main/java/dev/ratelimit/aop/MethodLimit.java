package dev.ratelimit.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Quota;

/**
 * One {@link RateLimited} of a method.
 *
 * @param name class and method
 * @param policy id of the policy
 * @param constantCost the cost if it is a number and no expression
 * @param cost the cost if it is an expression
 * @param key expression for the dimension {@code key}
 * @param condition whether a call is limited, {@code null} if all are
 */
record MethodLimit(String name, String policy, @Nullable Long constantCost, @Nullable ArgumentExpression cost,
		@Nullable ArgumentExpression key, @Nullable ArgumentExpression condition) {

	boolean needsArguments() {
		return this.cost != null || this.key != null || this.condition != null;
	}

	/**
	 * Whether a call is limited.
	 * @throws CallNotCheckedException if the condition is neither true nor false
	 */
	boolean applies(@Nullable Object[] arguments) {
		if (this.condition == null) {
			return true;
		}
		if (!(evaluate("condition", this.condition, arguments) instanceof Boolean applies)) {
			throw new CallNotCheckedException(
					"condition '" + this.condition.text() + "' of " + this.name + " is neither true nor false");
		}
		return applies;
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
