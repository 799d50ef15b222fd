package dev.ratelimit.aop;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * The annotations of methods that an edge in front of them limits, such as the
 * interceptor of a gRPC server. It decides before there are arguments. The proxy of the
 * bean limits the calls that no such edge has limited.
 */
public final class CallLimits {

	private final RateLimitedMethods methods;

	CallLimits(RateLimitedMethods methods) {
		this.methods = methods;
	}

	/**
	 * The limit of a method, {@code null} if it has none.
	 * @param type class of the bean, not of its proxy
	 * @throws IllegalStateException if the annotation needs the arguments
	 */
	public @Nullable Limit find(Method method, Class<?> type) {
		RateLimitedMethod found = this.methods.find(method, type);
		if (found == null) {
			return null;
		}
		if (found.limits().size() > 1 || found.needsArguments() || found.fallback() != null || found.decision() >= 0) {
			throw new IllegalStateException("@RateLimited on " + found.name()
					+ ": calls are limited before their arguments are known, so that only one policy and a number as"
					+ " cost can be named: move the other settings to a bean that the method calls");
		}
		MethodLimit limit = found.limits().get(0);
		return new Limit(limit.policy(), limit.constantCost());
	}

	/**
	 * What an annotation says.
	 *
	 * @param policy id of the policy
	 * @param cost {@code null} if the policy decides it
	 */
	public record Limit(String policy, @Nullable Long cost) {
	}

	/**
	 * An edge in front of annotated methods.
	 */
	@FunctionalInterface
	public interface Edge {

		/**
		 * Whether it has limited the current call of a method of this class.
		 */
		boolean hasLimited(Class<?> type);

	}

}
