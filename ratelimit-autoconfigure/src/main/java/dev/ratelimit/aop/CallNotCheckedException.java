package dev.ratelimit.aop;

/**
 * A call could not be checked, so that the policy's failure mode answers. Without a stack
 * trace and without a cause: a caller may be able to provoke it, and its message must
 * hold no argument.
 */
final class CallNotCheckedException extends RuntimeException {

	CallNotCheckedException(String message) {
		super(message, null, false, false);
	}

}
