package dev.ratelimit.web;

/**
 * A call could not be resolved, through a fault of ours and never of the caller, so that
 * the policy's failure mode answers. The message holds no value of the call; the cause
 * may.
 */
final class ResolutionException extends RuntimeException {

	ResolutionException(String message, Throwable cause) {
		super(message, cause, false, false);
	}

}
