package dev.ratelimit.counter;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * The counters did not answer, and why. Without a stack trace and without a key: the one
 * costs too much while everything fails, the other may be personal data.
 */
public final class UnansweredException extends RuntimeException {

	private static final CompletionStage<Grant> NEVER = CompletableFuture
		.failedStage(new IllegalStateException("nothing was sent"));

	private final Decision.Reason reason;

	private final transient CompletionStage<Grant> late;

	private final @Nullable String node;

	public UnansweredException(Decision.Reason reason, String message) {
		this(reason, message, null, NEVER, null);
	}

	/**
	 * Creates an exception for an answer that may still come.
	 * @param late completes with it, if ever
	 */
	public UnansweredException(Decision.Reason reason, String message, CompletionStage<Grant> late) {
		this(reason, message, null, late, null);
	}

	private UnansweredException(Decision.Reason reason, String message, @Nullable Throwable cause,
			CompletionStage<Grant> late, @Nullable String node) {
		super(message, cause, false, false);
		this.reason = reason;
		this.late = late;
		this.node = node;
	}

	/**
	 * A counter's key holds something else.
	 */
	public static UnansweredException corrupt(CounterSpec spec) {
		return new UnansweredException(Decision.Reason.CORRUPT, "the counter of limit '" + spec.limit().name()
				+ "' holds a value that is not a " + spec.algorithm().text() + " counter");
	}

	/**
	 * An answer was not there at once, for somebody who cannot wait for it.
	 * @param answer what comes later
	 */
	public static UnansweredException notAwaited(CompletableFuture<Grant> answer) {
		return new UnansweredException(Decision.Reason.NOT_AWAITED, "the answer was not there at once",
				answer.exceptionallyCompose((failure) -> of(failure).late()));
	}

	/**
	 * What is known about any failure.
	 */
	public static UnansweredException of(Throwable failure) {
		Throwable cause = failure;
		while (!(cause instanceof UnansweredException) && cause.getCause() != null) {
			cause = cause.getCause();
		}
		if (cause instanceof UnansweredException unanswered) {
			return unanswered;
		}
		return new UnansweredException(Decision.Reason.INTERNAL, String.valueOf(cause), cause, NEVER, null);
	}

	/**
	 * The same, with the node that did not answer.
	 */
	public UnansweredException at(String node) {
		return (this.node != null) ? this
				: new UnansweredException(this.reason, String.valueOf(getMessage()), getCause(), this.late, node);
	}

	/**
	 * The same, with another answer that may still come.
	 */
	public UnansweredException withLate(CompletionStage<Grant> late) {
		return new UnansweredException(this.reason, String.valueOf(getMessage()), getCause(), late, this.node);
	}

	public Decision.Reason reason() {
		return this.reason;
	}

	/**
	 * Which node it was, {@code null} if that is not known.
	 */
	public @Nullable String node() {
		return this.node;
	}

	/**
	 * What was taken after all, once it is known; fails if nothing was.
	 */
	public CompletionStage<Grant> late() {
		return this.late;
	}

}
