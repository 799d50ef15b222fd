package dev.ratelimit.gateway;

/**
 * Costs of requests under the policy of the stand-in for the gateway's own limiter, which
 * is not among the configured policies.
 */
@FunctionalInterface
public interface StandInCosts {

	/**
	 * The largest cost that is charged under a policy, at least 1; 1 for any other
	 * policy.
	 * @param policy its id
	 */
	long largest(String policy);

}
