package dev.ratelimit.control;

/**
 * There is no such record, or it has no such version. Nothing was changed.
 */
public final class NotFoundException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	public NotFoundException(String message) {
		super(message, null, false, false);
	}

}
