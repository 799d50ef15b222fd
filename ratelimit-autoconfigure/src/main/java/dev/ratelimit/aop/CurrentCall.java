package dev.ratelimit.aop;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.WebCall;

/**
 * The HTTP call that a method works for.
 */
public interface CurrentCall {

	/**
	 * What is known of the caller.
	 */
	WebCall facts();

	/**
	 * Has the response say what is left, by the most constrained of the decisions so far:
	 * one call may pass several methods.
	 */
	void announce(Decision decision, HttpAnswers answers);

	/**
	 * What was decided for a method before it was called, told once; {@code null} if
	 * nothing was.
	 */
	default @Nullable Decision decided(RateLimitedMethod method) {
		return null;
	}

	/**
	 * Runs something for this call, perhaps on another thread than the one that it was
	 * found on.
	 */
	default @Nullable Object during(Work work) throws Throwable {
		return work.run();
	}

	/**
	 * The observation that {@link CallTrace.Source} knows the call by, {@code null} for
	 * that of the thread.
	 */
	default @Nullable Object observation() {
		return null;
	}

	/** What is done for a call. */
	@FunctionalInterface
	interface Work {

		@Nullable Object run() throws Throwable;

	}

	/**
	 * Where calls are found that are bound to a thread.
	 */
	@FunctionalInterface
	interface Source {

		/** For an application that has none. */
		Source NONE = () -> null;

		/**
		 * The call that this thread works for, {@code null} outside of any.
		 */
		@Nullable CurrentCall find();

		/**
		 * Whether event loops work for calls without being bound to them.
		 */
		default boolean mayMissCalls() {
			return false;
		}

	}

}
