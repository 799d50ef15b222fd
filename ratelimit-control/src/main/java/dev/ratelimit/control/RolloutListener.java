package dev.ratelimit.control;

/**
 * Is called when a rollout advances or is rolled back, on the instance that leads. What
 * it throws is logged.
 */
@FunctionalInterface
public interface RolloutListener {

	void changed(Event event);

	/**
	 * A version that was written.
	 *
	 * @param rolledBack whether the previous version is back; else the next stage began
	 * @param before the newest version before
	 * @param after the newest version now
	 */
	record Event(String policy, boolean rolledBack, long before, long after, Author author) {
	}

}
