package dev.ratelimit.gateway;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A {@code RateLimit} filter as the configuration of a route writes it.
 *
 * @param where the place of the filter, for messages
 * @param arguments by name, or by position in the short form
 */
record RouteFilter(String where, Map<String, String> arguments) {

	/** What the gateways call the filter. */
	static final String NAME = "RateLimit";

	static final String FIRST = "_genkey_0";

	static final String SECOND = "_genkey_1";

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
