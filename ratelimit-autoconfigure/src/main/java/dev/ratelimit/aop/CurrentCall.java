package dev.ratelimit.aop;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
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

	}

}
