package dev.ratelimit.aop;

/**
 * A {@link RateLimited} that cannot be used. The message names the method and says what
 * to do.
 */
final class InvalidAnnotationException extends IllegalStateException {

	InvalidAnnotationException(String message) {
		super(message);
	}

}
