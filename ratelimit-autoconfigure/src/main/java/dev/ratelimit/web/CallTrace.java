package dev.ratelimit.web;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * The trace that a call is part of. Knows no type of a library for tracing: an
 * application need not have one.
 */
public interface CallTrace {

	/** For a call that nobody traces. */
	CallTrace NONE = new CallTrace() {

		@Override
		public void decided(Decision decision) {
			// Nobody wants to know.
		}

		@Override
		public @Nullable String id() {
			return null;
		}

	};

	/**
	 * Notes on the call's span what was decided. Never throws.
	 */
	void decided(Decision decision);

	/**
	 * Id of the trace, for problem documents; {@code null} if there is none.
	 */
	@Nullable String id();

	/**
	 * Where traces are found.
	 */
	@FunctionalInterface
	interface Source {

		/** What Reactor's context has the observation of a call under. */
		String CONTEXT_KEY = "micrometer.observation";

		/** For an application that traces nothing. */
		Source NONE = (observation) -> CallTrace.NONE;

		/**
		 * The trace of a call.
		 * @param observation what the call's context has under {@link #CONTEXT_KEY},
		 * {@code null} for the call that this thread works for
		 */
		CallTrace find(@Nullable Object observation);

	}

}
