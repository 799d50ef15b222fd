package dev.ratelimit.control;

import org.jspecify.annotations.Nullable;

/**
 * The store cannot be written or read now. What is in force stays so.
 */
public final class StoreUnavailableException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	public StoreUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
