package dev.ratelimit.gateway;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.server.mvc.common.MvcUtils;
import org.springframework.cloud.gateway.server.mvc.common.Shortcut;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.util.Assert;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.ServerResponse;

import dev.ratelimit.Quota;

/**
 * The filter for routes of Spring Cloud Gateway Server WebMVC: {@code - RateLimit=orders}
 * or {@code - RateLimit=orders,5}, and the same in Java. Several of these on one route
 * hold together.
 */
public final class RateLimitFilterFunctions {

	private RateLimitFilterFunctions() {
	}

	/**
	 * Checks requests against a policy, whose {@code costs} decide the cost.
	 * @param policy id of the policy
	 */
	@Shortcut
	public static HandlerFilterFunction<ServerResponse, ServerResponse> rateLimit(String policy) {
		return filter(policy, null);
	}

	/**
	 * Checks requests against a policy.
	 * @param policy id of the policy
	 * @param cost permits of a request, 0 to {@value Quota#MAX_PERMITS}
	 */
	@Shortcut
	public static HandlerFilterFunction<ServerResponse, ServerResponse> rateLimit(String policy, long cost) {
		Assert.isTrue(cost >= 0 && cost <= Quota.MAX_PERMITS,
				() -> "the cost of the RateLimit filter must be 0 to " + Quota.MAX_PERMITS + " but was " + cost);
		return filter(policy, cost);
	}

	private static HandlerFilterFunction<ServerResponse, ServerResponse> filter(String policy, @Nullable Long cost) {
		Assert.hasText(policy, "the RateLimit filter needs a policy");
		return (request, next) -> {
			ApplicationContext context = MvcUtils.getApplicationContext(request);
			MvcRouteCheck check = context.getBeanProvider(MvcRouteCheck.class).getIfAvailable();
			if (check != null) {
				return check.filter(request, next, policy, cost);
			}
			requireDisabled(context.getEnvironment());
			return next.handle(request);
		};
	}

	private static void requireDisabled(Environment environment) {
		if (!"false".equalsIgnoreCase(environment.getProperty("ratelimit.enabled"))) {
			throw new IllegalStateException(
					"A route has the RateLimit filter, but the application has no limiter for it. "
							+ "Do not exclude RateLimitGatewayMvcAutoConfiguration, nor disable the gateway by "
							+ "'spring.cloud.gateway.server.webmvc.enabled'; add @RateLimitTest to a test such as @WebMvcTest. "
							+ "To run without limits, set 'ratelimit.enabled' to false.");
		}
	}

}
