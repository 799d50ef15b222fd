package dev.ratelimit.control;

/**
 * Hears of what rollouts do by themselves, on the instance that leads them. What it
 * throws is logged.
 */
@FunctionalInterface
public interface RolloutListener {

	/**
	 * A version was written.
	 */
	void changed(Event event);

	/**
	 * What was written.
	 *
	 * @param policy id of the policy
	 * @param rolledBack whether the version before is back, or the next stage has begun
	 * @param before version that was the newest
	 * @param after version that is
	 * @param author who wrote it, which is always the rollout, and why
	 */
	record Event(String policy, boolean rolledBack, long before, long after, Author author) {
	}

}
