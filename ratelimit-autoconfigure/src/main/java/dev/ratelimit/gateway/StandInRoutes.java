package dev.ratelimit.gateway;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.support.ShortcutConfigurable;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.spel.standard.SpelExpressionParser;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * Checks the configured routes that use {@link DistributedRateLimiter} before the gateway
 * loads them. Otherwise the gateway would log a mistake, and every request to any route
 * would be an error.
 */
final class StandInRoutes {

	private StandInRoutes() {
	}

	/**
	 * Checks all routes and default filters.
	 * @param beans beans that routes refer to
	 * @throws InvalidPolicyException naming the route, the field and the fix
	 */
	static void check(GatewayProperties properties, BeanFactory beans) {
		SpelExpressionParser parser = new SpelExpressionParser();
		ConfiguredRoutes.forEach(properties, "RequestRateLimiter", (routeId, filter) -> {
			if (routeId == null) {
				// The gateway invents an id when it loads the route, and tells the
				// limiter then.
				return;
			}
			Map<String, Object> arguments = new HashMap<>();
			filter.getArgs().forEach((name, text) -> arguments.put(name, value(text, parser, beans)));
			arguments.values()
				.stream()
				.filter(DistributedRateLimiter.class::isInstance)
				.map(DistributedRateLimiter.class::cast)
				.findFirst()
				.ifPresent((limiter) -> limiter.onApplicationEvent(new FilterArgsEvent(filter, routeId, arguments)));
		});
	}

	/** Reads an argument as the gateway does, which reports those it cannot read. */
	private static @Nullable Object value(String text, SpelExpressionParser parser, BeanFactory beans) {
		try {
			return ShortcutConfigurable.getValue(parser, beans, text);
		}
		catch (BeansException | ExpressionException ex) {
			return text;
		}
	}

}
