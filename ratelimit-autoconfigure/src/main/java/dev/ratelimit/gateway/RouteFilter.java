package dev.ratelimit.gateway;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Quota;
import dev.ratelimit.config.InvalidPolicyException;

/**
 * A {@code RateLimit} filter as the configuration of a route writes it.
 *
 * @param where the place of the filter, for messages
 * @param arguments by name, or by position in the short form
 */
record RouteFilter(String where, Map<String, String> arguments) {

	/** What the gateways call the filter. */
	static final String NAME = "RateLimit";

	static final String FIX = "Write '- RateLimit=<policy>' or '- RateLimit=<policy>,<cost>'.";

	static final String FIRST = "_genkey_0";

	static final String SECOND = "_genkey_1";

	/**
	 * Checks both arguments as they are written. An expression is only known when the
	 * gateway makes the route.
	 * @throws InvalidPolicyException naming the route, the argument and the fix
	 */
	void requirePolicyAndCost() {
		String policy = policy();
		if (policy == null || policy.isBlank()) {
			throw invalid("names no policy.", FIX);
		}
		String cost = cost();
		if (cost != null && !cost.startsWith("#{")
				&& !(cost.matches("[0-9]{1,18}") && Long.parseLong(cost) <= Quota.MAX_PERMITS)) {
			throw invalid("has the cost '" + cost + "', which is no number from 0 to " + Quota.MAX_PERMITS + ".", FIX);
		}
	}

	InvalidPolicyException invalid(String problem, String fix) {
		return new InvalidPolicyException("The RateLimit filter of " + this.where + " " + problem, fix);
	}

	@Nullable String policy() {
		return argument("policy", FIRST);
	}

	@Nullable String cost() {
		return argument("cost", SECOND);
	}

	private @Nullable String argument(String name, String position) {
		String value = this.arguments.get(name);
		return (value != null) ? value : this.arguments.get(position);
	}

}
