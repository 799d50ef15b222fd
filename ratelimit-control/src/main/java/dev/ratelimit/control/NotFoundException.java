package dev.ratelimit.control;

/**
 * There is no such record, or it has no such version. Nothing was changed.
 */
public final class NotFoundException extends RuntimeException {

	public NotFoundException(String message) {
		super(message, null, false, false);
	}

}
