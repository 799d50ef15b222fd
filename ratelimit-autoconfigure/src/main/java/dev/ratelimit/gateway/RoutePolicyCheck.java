package dev.ratelimit.gateway;

import java.util.List;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Policy;
import dev.ratelimit.config.PolicyWarnings;
import dev.ratelimit.policy.PolicySet;

/**
 * Checks the configured routes of either gateway before any of them is used: their
 * policies must exist. A cost that never fits is logged as a warning.
 */
final class RoutePolicyCheck {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private RoutePolicyCheck() {
	}

	/**
	 * Checks all filters.
	 * @param filters those of all routes, with valid arguments
	 * @param policies the policies in force
	 * @param unknown called for a filter that names an unknown policy; throws if that is
	 * an error
	 */
	static void check(List<RouteFilter> filters, PolicySet policies, BiConsumer<String, String> unknown) {
		for (RouteFilter filter : filters) {
			String id = filter.policy();
			Policy policy = (id != null) ? policies.find(id) : null;
			if (policy == null) {
				unknown.accept("The RateLimit filter of " + filter.where(), String.valueOf(id));
			}
			else {
				warnOfCost(filter.where(), policy, filter.permits());
			}
		}
	}

	/**
	 * The places of the filters that name a policy.
	 */
	static List<String> places(List<RouteFilter> filters, String policy) {
		return filters.stream()
			.filter((filter) -> policy.equals(filter.policy()))
			.map(RouteFilter::where)
			.distinct()
			.toList();
	}

	private static void warnOfCost(String where, Policy policy, @Nullable Long cost) {
		if (cost != null) {
			PolicyWarnings.neverFits(where, policy, cost).ifPresent(logger::warn);
		}
	}

}
