package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.cloud.gateway.server.mvc.config.FilterProperties;
import org.springframework.cloud.gateway.server.mvc.config.GatewayMvcProperties;
import org.springframework.cloud.gateway.server.mvc.config.RouteProperties;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * The filters of the configured routes of the gateway on WebMVC.
 */
final class MvcRoutes {

	private MvcRoutes() {
	}

	/**
	 * Our filters of all routes, as the environment has them now: the gateway reads them
	 * again at a refresh.
	 */
	static List<RouteFilter> filters(Environment environment) {
		GatewayMvcProperties properties = Binder.get(environment)
			.bindOrCreate(GatewayMvcProperties.PREFIX, GatewayMvcProperties.class);
		List<RouteFilter> filters = new ArrayList<>();
		properties.getRoutes().forEach((route) -> add(route.getId(), route, filters));
		properties.getRoutesMap()
			.forEach((key, route) -> add(StringUtils.hasText(route.getId()) ? route.getId() : key, route, filters));
		return filters;
	}

	/** The gateway calls an operation by its name with a small letter. */
	private static void add(String routeId, RouteProperties route, List<RouteFilter> filters) {
		for (FilterProperties filter : route.getFilters()) {
			if (RouteFilter.NAME.equals(StringUtils.capitalize(filter.getName()))) {
				filters.add(new RouteFilter(RouteLimits.where(routeId), filter.getArgs()));
			}
		}
	}

	/**
	 * Checks the arguments of a filter: the gateway would only say that it finds no
	 * operation for them.
	 * @throws InvalidPolicyException naming the route, the argument and the fix
	 */
	static void requireValid(RouteFilter filter) {
		for (Map.Entry<String, String> argument : filter.arguments().entrySet()) {
			String name = argument.getKey();
			if (name.equals("dimensions") || name.startsWith("dimensions.") || name.startsWith("dimensions[")) {
				throw filter.invalid("has 'dimensions', which only the gateway on WebFlux knows.",
						"Declare them under 'ratelimit.dimensions' or as DimensionResolver beans, and count by them "
								+ "in the policy. " + RouteFilter.FIX);
			}
			if (!List.of("policy", "cost", RouteFilter.FIRST, RouteFilter.SECOND).contains(name)) {
				throw filter.invalid(name.startsWith("_genkey_") ? "has more than two arguments."
						: "has the argument '" + name + "', which does not exist.", RouteFilter.FIX);
			}
		}
		filter.requirePolicy();
		filter.requireCost();
	}

}
