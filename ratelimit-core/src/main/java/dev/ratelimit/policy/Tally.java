package dev.ratelimit.policy;

/**
 * Decisions of a version of a policy.
 *
 * @param decisions number of requests that its limits decided
 * @param refusals number of refusals among them
 */
public record Tally(long decisions, long refusals) {

	public Tally {
		if (refusals < 0 || refusals > decisions) {
			throw new IllegalArgumentException("refusals must be 0 to " + decisions + " but was " + refusals);
		}
	}

}
