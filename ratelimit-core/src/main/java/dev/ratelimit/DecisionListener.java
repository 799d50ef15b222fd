package dev.ratelimit;

/**
 * Sees every decision. What it throws is logged and never changes the decision.
 */
@FunctionalInterface
public interface DecisionListener {

	/**
	 * Called on the thread that made the decision; must not block.
	 * @param request what was asked
	 * @param decision what was decided
	 * @param nanos how long it took
	 */
	void decided(Request request, Decision decision, long nanos);

}
