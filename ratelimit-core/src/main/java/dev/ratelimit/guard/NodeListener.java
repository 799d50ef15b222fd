package dev.ratelimit.guard;

import dev.ratelimit.Decision;

/**
 * Sees what becomes of the calls to each node. Called on the path of a check, so it must
 * be quick; what it throws is ignored.
 */
public interface NodeListener {

	/**
	 * A node answered.
	 * @param nanos how long it took
	 * @param skewMicros how far the node's clock is ahead of ours
	 */
	default void answered(String node, long nanos, long skewMicros) {
	}

	/**
	 * A check was not answered by a node.
	 */
	default void failed(String node, Decision.Reason reason) {
	}

	/**
	 * Permits could not be given back; they come back when their window is over.
	 */
	default void giveBackLost(String node) {
	}

	/**
	 * A node is known for the first time, or its breaker has changed.
	 */
	default void changed(String node, BreakerState state) {
	}

	/**
	 * A node has left.
	 */
	default void left(String node) {
	}

}
