package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.FilterDefinition;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * The filters of the configured routes of the gateway on WebFlux.
 */
final class ConfiguredRoutes {

	private ConfiguredRoutes() {
	}

	/**
	 * Our filters of all routes and of the default filters.
	 */
	static List<RouteFilter> filters(GatewayProperties properties) {
		List<RouteFilter> filters = new ArrayList<>();
		forEach(properties, RouteFilter.NAME,
				(routeId, filter) -> filters.add(new RouteFilter(RouteLimits.where(routeId), filter.getArgs())));
		return filters;
	}

	/**
	 * Checks the arguments of a filter. An empty cost, as a placeholder without a value
	 * leaves it, is none, and an expression is only known when the gateway makes the
	 * route.
	 * @throws InvalidPolicyException naming the route, the argument and the fix
	 */
	static void requireValid(RouteFilter filter) {
		filter.requirePolicy();
		String cost = filter.cost();
		if (cost != null && !cost.isBlank() && !cost.strip().startsWith("#{")) {
			filter.requireCost();
		}
	}

	/**
	 * Visits all filters of one name, with the ids of their routes as the gateway's
	 * events have them. A route without an id has none yet.
	 */
	static void forEach(GatewayProperties properties, String name,
			BiConsumer<@Nullable String, FilterDefinition> visitor) {
		visit(RouteLimits.DEFAULT_FILTERS, properties.getDefaultFilters(), name, visitor);
		properties.getRoutes().forEach((route) -> visit(route.getId(), route.getFilters(), name, visitor));
	}

	private static void visit(@Nullable String routeId, List<FilterDefinition> filters, String name,
			BiConsumer<@Nullable String, FilterDefinition> visitor) {
		filters.stream()
			.filter((filter) -> filter.getName().equals(name))
			.forEach((filter) -> visitor.accept(routeId, filter));
	}

}
