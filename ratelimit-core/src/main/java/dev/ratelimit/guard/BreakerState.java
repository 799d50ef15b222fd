package dev.ratelimit.guard;

import java.util.Locale;

/**
 * Whether a node is asked.
 */
public enum BreakerState {

	/** It is. */
	CLOSED,

	/** One check is trying whether it answers again. */
	HALF_OPEN,

	/** It is left alone. */
	OPEN;

	public String text() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
