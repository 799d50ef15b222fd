package dev.ratelimit.gateway;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.support.ShortcutConfigurable;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * Looks at the routes in the configuration that use {@link DistributedRateLimiter} before
 * the gateway loads them: a mistake would otherwise be logged, and every request to any
 * route be an error.
 */
public final class StandInRoutes {

	private final BeanFactory beans;

	private final SpelExpressionParser parser = new SpelExpressionParser();

	private StandInRoutes(BeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Checks all routes and default filters.
	 * @param beans what routes refer to
	 * @throws InvalidRouteException naming the route, the field and the fix
	 */
	public static void check(GatewayProperties properties, BeanFactory beans) {
		StandInRoutes routes = new StandInRoutes(beans);
		routes.check("defaultFilters", properties.getDefaultFilters());
		properties.getRoutes().forEach((route) -> routes.check(route.getId(), route.getFilters()));
	}

	private void check(String id, List<FilterDefinition> filters) {
		for (FilterDefinition filter : filters) {
			if (filter.getName().equals("RequestRateLimiter")) {
				Map<String, Object> arguments = new HashMap<>();
				filter.getArgs().forEach((name, text) -> arguments.put(name, value(text)));
				arguments.values()
					.stream()
					.filter(DistributedRateLimiter.class::isInstance)
					.map(DistributedRateLimiter.class::cast)
					.findFirst()
					.ifPresent((limiter) -> limiter.onApplicationEvent(new FilterArgsEvent(this, id, arguments)));
			}
		}
	}

	/** As the gateway reads arguments; what it cannot read it reports itself. */
	private @Nullable Object value(String text) {
		try {
			return ShortcutConfigurable.getValue(this.parser, this.beans, text);
		}
		catch (BeansException | ExpressionException ex) {
			return text;
		}
	}

}
