package dev.ratelimit;

/**
 * Sees every decision, and on request what versions would have decided that are tried
 * out. What it throws is logged and never changes the decision.
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

	/**
	 * A version that is tried out has decided a request once more, in counters of its
	 * own, after it was decided. Nobody obeys it or has waited for it. Called as
	 * {@link #decided} is.
	 * @param request what was asked
	 * @param decision what the version would have decided, in shadow
	 */
	default void tried(Request request, Decision decision) {
	}

}
