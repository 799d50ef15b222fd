package dev.ratelimit.aop;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The annotations of methods that an edge in front of them limits, such as the
 * interceptor of a gRPC server. It decides before there are arguments. The proxy of the
 * bean limits the calls that no such edge has limited.
 */
public final class CallLimits {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private final RateLimitedMethods methods;

	CallLimits(RateLimitedMethods methods) {
		this.methods = methods;
	}

	/**
	 * The limit of a method, {@code null} if it has none, or one that needs the
	 * arguments: only the proxy can apply that.
	 * @param type class of the bean, not of its proxy
	 */
	public @Nullable Limit find(Method method, Class<?> type) {
		RateLimitedMethod found = this.methods.find(method, type);
		if (found == null) {
			return null;
		}
		if (found.limits().size() > 1 || found.needsArguments() || found.fallback() != null || found.decision() >= 0) {
			logger
				.warn("@RateLimited on {}: the proxy of the bean limits the method, not the interceptor of the server."
						+ " The interceptor decides before there are arguments: it needs one policy and a number as cost,"
						+ " and no key, condition, fallbackMethod or parameter of type Decision", found.name());
			return null;
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
		 * Whether it has limited the current call, and this method serves that call.
		 * @param type class of the bean, not of its proxy
		 */
		boolean hasLimited(Class<?> type, Method method);

	}

}
