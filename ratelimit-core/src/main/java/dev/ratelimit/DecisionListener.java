package dev.ratelimit;

/**
 * Receives every decision, and optionally the decisions of trials. An exception of a
 * listener is logged and never changes the decision.
 */
@FunctionalInterface
public interface DecisionListener {

	/**
	 * Called after a decision, on the thread that made it; must not block.
	 * @param nanos duration of the check in nanoseconds
	 */
	void decided(Request request, Decision decision, long nanos);

	/**
	 * Called after a trial has decided the same request, in counters of its own. The
	 * decision has no effect and delays no request. The thread is the one of
	 * {@link #decided}; must not block.
	 * @param decision the trial's decision, in shadow
	 */
	default void tried(Request request, Decision decision) {
	}

	/**
	 * Called after the cost of a decision was settled, or could not be. Must not block.
	 * @param policy id of the policy
	 * @param settlement what became of it
	 */
	default void settled(String policy, Settlement settlement) {
	}

}
