package dev.ratelimit.aop;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Quota;

/**
 * What {@link RateLimited} says about one method, read once.
 */
public final class RateLimitedMethod {

	private final String name;

	private final String policy;

	private final Class<?> returnType;

	private final ReturnKind returns;

	private final boolean handler;

	private final @Nullable Long constantCost;

	private final @Nullable ArgumentExpression cost;

	private final @Nullable ArgumentExpression key;

	private final AtomicBoolean warned = new AtomicBoolean();

	RateLimitedMethod(String name, String policy, Class<?> returnType, boolean handler, @Nullable Long constantCost,
			@Nullable ArgumentExpression cost, @Nullable ArgumentExpression key) {
		this.name = name;
		this.policy = policy;
		this.returnType = returnType;
		this.returns = ReturnKind.of(returnType);
		this.handler = handler;
		this.constantCost = constantCost;
		this.cost = cost;
		this.key = key;
	}

	/**
	 * Class and method, which is also its route outside of HTTP.
	 */
	public String name() {
		return this.name;
	}

	public String policy() {
		return this.policy;
	}

	/**
	 * The cost if it is a number and no expression.
	 */
	public @Nullable Long constantCost() {
		return this.constantCost;
	}

	/**
	 * As the bean declares it: an interface that it is called through may say less.
	 */
	Class<?> returnType() {
		return this.returnType;
	}

	ReturnKind returns() {
		return this.returns;
	}

	/**
	 * Whether it is called by other code, and returns no sooner than the decision is
	 * there: on a thread that must not block it can only obey one that is there at once.
	 */
	public boolean isPlainBeanMethod() {
		return !this.handler && this.returns == ReturnKind.VALUE;
	}

	/**
	 * Whether cost or key depend on the arguments.
	 */
	boolean needsArguments() {
		return this.cost != null || this.key != null;
	}

	/**
	 * Whether it handles HTTP requests.
	 */
	boolean isHandler() {
		return this.handler;
	}

	/**
	 * The cost of a call, {@code null} if the policy is to say. Arguments may come from
	 * the caller, so one that is out of range must neither fail the check nor be free.
	 */
	@Nullable Long cost(@Nullable Object[] arguments) {
		if (this.cost == null) {
			return this.constantCost;
		}
		if (!(evaluate("cost", this.cost, arguments) instanceof Number number)) {
			throw new CallNotCheckedException("cost '" + this.cost.text() + "' of " + this.name + " is no number");
		}
		double cost = Math.ceil(number.doubleValue());
		// Not a number is not below 0 either.
		return (cost >= 0) ? (long) Math.min(cost, Quota.MAX_PERMITS) : 1;
	}

	/**
	 * The value of the dimension {@code key}, {@code null} if there is none.
	 */
	@Nullable String key(@Nullable Object[] arguments) {
		Object value = (this.key != null) ? evaluate("key", this.key, arguments) : null;
		// Others have no text of their own: it could differ from call to call or be
		// shared.
		if (this.key != null && value != null && !ClassUtils.isSimpleValueType(value.getClass())) {
			throw new CallNotCheckedException("key '" + this.key.text() + "' of " + this.name
					+ " is neither a text nor a number but a " + value.getClass().getName());
		}
		return (value != null) ? value.toString() : null;
	}

	boolean hasKey() {
		return this.key != null;
	}

	/**
	 * Whether nothing was logged about this method yet.
	 */
	boolean warnsFirst() {
		return this.warned.compareAndSet(false, true);
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

	@Override
	public String toString() {
		return this.name + " by '" + this.policy + "'";
	}

}
