package dev.ratelimit.aop;

import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * A call was turned away. It has no stack trace: a flood of refusals must stay cheap.
 */
public class RateLimitExceededException extends RuntimeException {

	private final transient Decision decision;

	public RateLimitExceededException(Decision decision) {
		super("Turned away by policy '" + decision.policy() + "' (" + decision.outcome().text() + ")", null, false,
				false);
		this.decision = decision;
	}

	/**
	 * Why, and by which limit.
	 */
	public Decision decision() {
		return this.decision;
	}

	/**
	 * How long to wait before the same call would be admitted, zero when waiting does not
	 * help.
	 */
	public Duration retryAfter() {
		return this.decision.retryAfter();
	}

	/**
	 * The refusal in what asynchronous code wrapped around it, {@code null} if it is
	 * something else.
	 */
	static @Nullable RateLimitExceededException in(@Nullable Throwable failure) {
		Throwable cause = failure;
		while (cause instanceof CompletionException || cause instanceof ExecutionException
				|| cause instanceof UndeclaredThrowableException) {
			cause = cause.getCause();
		}
		return (cause instanceof RateLimitExceededException refusal) ? refusal : null;
	}

}
