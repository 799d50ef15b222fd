package dev.ratelimit.guard;

import dev.ratelimit.Decision;

/**
 * Observes the calls to each node. Called on the path of a check, so it must be quick;
 * its exceptions are ignored.
 */
public interface NodeListener {

	/**
	 * A node answered.
	 * @param nanos duration of the call
	 * @param skewMicros how far the node's clock is ahead of ours
	 */
	default void answered(String node, long nanos, long skewMicros) {
	}

	/**
	 * A node did not answer a check.
	 */
	default void failed(String node, Decision.Reason reason) {
	}

	/**
	 * Permits could not be given back; they come back when their window is over.
	 */
	default void giveBackLost(String node) {
	}

	/**
	 * A node was first used, or its breaker has changed.
	 */
	default void changed(String node, BreakerState state) {
	}

	/**
	 * A node has left.
	 */
	default void left(String node) {
	}

}
