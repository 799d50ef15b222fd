package dev.ratelimit.fleet;

/**
 * The emergency switch could not be written to Redis.
 */
public final class SwitchNotWrittenException extends RuntimeException {

	SwitchNotWrittenException(Throwable cause) {
		super("The switch could not be written to Redis, and this instance has changed nothing. "
				+ "If Redis was only slow it may still take effect: look again. "
				+ "To force a mode without Redis, start the instances with 'ratelimit.switch.mode' set", cause);
	}

}
