package dev.ratelimit.autoconfigure;

/**
 * What requests cost under a policy that decides beside those in force, such as that of
 * the stand-in for the gateway's own limiter.
 */
@FunctionalInterface
interface CostsBeside {

	/**
	 * The largest cost that is charged under a policy, at least 1; 1 if it is another's.
	 * @param policy its id
	 */
	long largest(String policy);

}
