package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * The trace that a call is part of. Uses no type of a tracing library, as an application
 * need not have one.
 */
public interface CallTrace {

	/** For a call without a trace. */
	CallTrace NONE = new CallTrace() {
	};

	/**
	 * Notes a decision on the call's span. Never throws.
	 */
	default void decided(Decision decision) {
	}

	/**
	 * Runs a part of the call in the trace, on a thread that knows nothing of it.
	 */
	default void during(Runnable part) {
		part.run();
	}

	/**
	 * Id of the trace, for problem documents; {@code null} if there is none.
	 */
	default @Nullable String id() {
		return null;
	}

	/**
	 * Finds the traces of calls.
	 */
	@FunctionalInterface
	interface Source {

		/** Key of a call's observation in Reactor's context. */
		String CONTEXT_KEY = "micrometer.observation";

		/** For an application without tracing. */
		Source NONE = (observation) -> CallTrace.NONE;

		/**
		 * The trace of a call.
		 * @param observation value under {@link #CONTEXT_KEY} in the call's context,
		 * {@code null} for the current observation of this thread
		 */
		CallTrace find(@Nullable Object observation);

		/**
		 * The trace of a call, with a decision noted on its span.
		 */
		default CallTrace decided(Decision decision, @Nullable Object observation) {
			CallTrace trace = find(observation);
			trace.decided(decision);
			return trace;
		}

	}

}
