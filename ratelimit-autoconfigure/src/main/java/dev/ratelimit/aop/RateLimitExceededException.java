package dev.ratelimit.aop;

import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * A call was refused. It has no stack trace: a flood of refusals must stay cheap.
 */
public class RateLimitExceededException extends RuntimeException {

	private final transient Decision decision;

	private final transient boolean handler;

	public RateLimitExceededException(Decision decision) {
		this(decision, false);
	}

	RateLimitExceededException(Decision decision, boolean handler) {
		super("Turned away by policy '" + decision.policy() + "' (" + decision.outcome().text() + ")", null, false,
				false);
		this.decision = decision;
		this.handler = handler;
	}

	/**
	 * The decision, with the reason and the limit that refused.
	 */
	public Decision decision() {
		return this.decision;
	}

	/**
	 * Wait until the same call would be admitted; zero if waiting does not help.
	 */
	public Duration retryAfter() {
		return this.decision.retryAfter();
	}

	/**
	 * Whether the handler of an HTTP request was refused, before it did any work.
	 */
	boolean isOfHandler() {
		return this.handler;
	}

	/**
	 * The refusal in a failure that asynchronous code may have wrapped, {@code null} if
	 * it is another failure.
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
