package dev.ratelimit.metrics;

import java.util.List;

import dev.ratelimit.Policy;

/**
 * Policies that decide beside those in force and never change, such as that of the
 * stand-in for the gateway's own limiter. Their decisions are metered under their ids.
 *
 * @param policies one of each id
 */
public record FixedPolicies(List<Policy> policies) {

	public static final FixedPolicies NONE = new FixedPolicies(List.of());

	public FixedPolicies {
		policies = List.copyOf(policies);
	}

}
