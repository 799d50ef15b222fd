package dev.ratelimit.control;

import org.jspecify.annotations.Nullable;

/**
 * The store cannot be written or read now. The policies in force do not change.
 */
public final class StoreUnavailableException extends RuntimeException {

	public StoreUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
