package dev.ratelimit.gateway;

import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.util.NumberUtils;
import org.springframework.util.StringUtils;

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
	 * Checks that a policy is named.
	 * @throws InvalidPolicyException naming the route and the fix
	 */
	void requirePolicy() {
		String policy = policy();
		if (policy == null || policy.isBlank()) {
			throw invalid("names no policy.", FIX);
		}
	}

	/**
	 * Checks the cost, if there is one.
	 * @throws InvalidPolicyException naming the route, the cost and the fix
	 */
	void requireCost() {
		Long permits = permits();
		if (cost() != null && (permits == null || permits < 0 || permits > Quota.MAX_PERMITS)) {
			throw invalid("has the cost '" + cost() + "', which is no number from 0 to " + Quota.MAX_PERMITS + ".",
					FIX);
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

	/** The cost as the gateways read it, {@code null} if it is no number. */
	@Nullable Long permits() {
		String cost = cost();
		try {
			return StringUtils.hasText(cost) ? NumberUtils.parseNumber(cost, Long.class) : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private @Nullable String argument(String name, String position) {
		String value = this.arguments.get(name);
		return (value != null) ? value : this.arguments.get(position);
	}

}
