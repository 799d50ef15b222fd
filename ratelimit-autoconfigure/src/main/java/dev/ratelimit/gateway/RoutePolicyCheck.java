package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.FilterDefinition;

import dev.ratelimit.Policy;
import dev.ratelimit.config.PolicyWarnings;
import dev.ratelimit.policy.PolicySet;

/**
 * Checks the configured routes before any of them is used: each policy that they name
 * must exist, and a cost that never fits is logged as a warning.
 */
final class RoutePolicyCheck {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private RoutePolicyCheck() {
	}

	/**
	 * Checks all routes and default filters.
	 * @param properties the routes
	 * @param policies the policies in force
	 * @param unknown called for a filter that names an unknown policy; throws if that is
	 * an error
	 */
	static void check(GatewayProperties properties, PolicySet policies, BiConsumer<String, String> unknown) {
		forEach(properties, "RateLimit", (routeId, filter) -> {
			String where = RouteLimits.where(routeId);
			String id = argument(filter, "policy", "_genkey_0");
			Policy policy = (id != null) ? policies.find(id) : null;
			if (policy == null) {
				unknown.accept(where, String.valueOf(id));
			}
			else {
				warnOfCost(where, policy, argument(filter, "cost", "_genkey_1"));
			}
		});
	}

	/**
	 * The routes and default filters that name a policy.
	 */
	static List<String> places(GatewayProperties properties, String policy) {
		Set<String> places = new LinkedHashSet<>();
		forEach(properties, "RateLimit", (routeId, filter) -> {
			if (policy.equals(argument(filter, "policy", "_genkey_0"))) {
				places.add(RouteLimits.where(routeId));
			}
		});
		return new ArrayList<>(places);
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

	private static void warnOfCost(String where, Policy policy, @Nullable String cost) {
		if (cost != null && cost.chars().allMatch(Character::isDigit)) {
			PolicyWarnings.neverFits(where, policy, Long.parseLong(cost)).ifPresent(logger::warn);
		}
	}

	private static @Nullable String argument(FilterDefinition filter, String name, String position) {
		String value = filter.getArgs().get(name);
		return (value != null) ? value : filter.getArgs().get(position);
	}

}
