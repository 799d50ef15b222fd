package dev.ratelimit.gateway;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.FilterDefinition;

import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.policy.PolicySet;

/**
 * Looks at the routes in the configuration before any of them is used: each policy they
 * name must exist, and a cost that can never fit is worth a warning.
 */
public final class RoutePolicyCheck {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private RoutePolicyCheck() {
	}

	/**
	 * Checks all routes and default filters.
	 * @param properties the routes
	 * @param policies the policies there are
	 * @param unknown is told of a filter that names an unknown policy, and fails if that
	 * must not be
	 */
	public static void check(GatewayProperties properties, PolicySet policies, BiConsumer<String, String> unknown) {
		check("default-filters", properties.getDefaultFilters(), policies, unknown);
		properties.getRoutes()
			.forEach((route) -> check("route '" + route.getId() + "'", route.getFilters(), policies, unknown));
	}

	/**
	 * What names a policy in the configuration of the gateway.
	 */
	public static List<String> places(GatewayProperties properties, String policy) {
		List<String> places = new ArrayList<>();
		if (names(properties.getDefaultFilters(), policy)) {
			places.add("default-filters");
		}
		properties.getRoutes()
			.stream()
			.filter((route) -> names(route.getFilters(), policy))
			.forEach((route) -> places.add("route '" + route.getId() + "'"));
		return places;
	}

	private static boolean names(List<FilterDefinition> filters, String policy) {
		return filters.stream()
			.anyMatch((filter) -> filter.getName().equals("RateLimit")
					&& policy.equals(argument(filter, "policy", "_genkey_0")));
	}

	private static void check(String where, List<FilterDefinition> filters, PolicySet policies,
			BiConsumer<String, String> unknown) {
		for (FilterDefinition filter : filters) {
			if (filter.getName().equals("RateLimit")) {
				String id = argument(filter, "policy", "_genkey_0");
				Policy policy = (id != null) ? policies.find(id) : null;
				if (policy == null) {
					unknown.accept(where, String.valueOf(id));
				}
				else {
					warn(where, policy, argument(filter, "cost", "_genkey_1"));
				}
			}
		}
	}

	private static void warn(String where, Policy policy, @Nullable String cost) {
		if (cost != null && cost.chars().allMatch(Character::isDigit)) {
			long largest = policy.limits().stream().mapToLong(Limit::largestCost).min().orElseThrow();
			if (Long.parseLong(cost) > largest) {
				logger.warn(
						"{} costs {} permits, but policy '{}' never has more than {} at once by default; "
								+ "callers without a larger tier or override are always refused",
						where, cost, policy.id(), largest);
			}
		}
	}

	private static @Nullable String argument(FilterDefinition filter, String name, String position) {
		String value = filter.getArgs().get(name);
		return (value != null) ? value : filter.getArgs().get(position);
	}

}
