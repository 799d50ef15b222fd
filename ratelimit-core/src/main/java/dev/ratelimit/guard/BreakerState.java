package dev.ratelimit.guard;

import dev.ratelimit.EnumText;

/**
 * Whether a node is called.
 */
public enum BreakerState {

	/** The node is called. */
	CLOSED,

	/** One check tests whether the node answers again. */
	HALF_OPEN,

	/** The node is not called. */
	OPEN;

	public String text() {
		return EnumText.of(this);
	}

}
