package dev.ratelimit.counter;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * The reason why counters did not answer. It has no stack trace, which costs too much
 * while everything fails, and no key, which may be personal data.
 */
public final class UnansweredException extends RuntimeException {

	private final Decision.Reason reason;

	private final @Nullable String node;

	public UnansweredException(Decision.Reason reason, String message) {
		this(reason, message, null, null);
	}

	private UnansweredException(Decision.Reason reason, String message, @Nullable Throwable cause,
			@Nullable String node) {
		super(message, cause, false, false);
		this.reason = reason;
		this.node = node;
	}

	/**
	 * The key of a counter holds another kind of value.
	 */
	public static UnansweredException corrupt(CounterSpec spec) {
		return new UnansweredException(Decision.Reason.CORRUPT, "the counter of limit '" + spec.limit().name()
				+ "' holds a value that is not a " + spec.algorithm().text() + " counter");
	}

	/**
	 * The known reason of any failure.
	 */
	public static UnansweredException of(Throwable failure) {
		Throwable cause = failure;
		while (!(cause instanceof UnansweredException) && cause.getCause() != null) {
			cause = cause.getCause();
		}
		return (cause instanceof UnansweredException unanswered) ? unanswered
				: new UnansweredException(Decision.Reason.INTERNAL, String.valueOf(cause), cause, null);
	}

	/**
	 * The same exception with the node that did not answer.
	 */
	public UnansweredException at(String node) {
		return (this.node != null) ? this
				: new UnansweredException(this.reason, String.valueOf(getMessage()), getCause(), node);
	}

	public Decision.Reason reason() {
		return this.reason;
	}

	/**
	 * The node that did not answer, {@code null} if unknown.
	 */
	public @Nullable String node() {
		return this.node;
	}

}
