package dev.ratelimit.web;

/**
 * A request could not be made of a call, through a fault of ours and never of the caller.
 * It is for the policy's failure mode to answer. The message holds no value of the call;
 * the cause may.
 */
public final class ResolutionException extends RuntimeException {

	ResolutionException(String message, Throwable cause) {
		super(message, cause, false, false);
	}

}
