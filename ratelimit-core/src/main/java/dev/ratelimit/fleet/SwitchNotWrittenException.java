package dev.ratelimit.limiter;

/**
 * The big red switch could not be written to where the fleet would see it.
 */
public final class SwitchNotWrittenException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	SwitchNotWrittenException(Throwable cause) {
		super("The switch could not be written to Redis, and this instance has changed nothing. "
				+ "If Redis was only slow it may still take effect: look again. "
				+ "To force a mode without Redis, start the instances with 'ratelimit.switch.mode' set", cause);
	}

}
