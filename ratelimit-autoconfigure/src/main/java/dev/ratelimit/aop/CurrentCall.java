package dev.ratelimit.aop;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.WebCall;

/**
 * The HTTP call that a method works for.
 */
interface CurrentCall {

	/**
	 * The known facts about the call.
	 */
	WebCall facts();

	/**
	 * The decisions about the call, {@code null} where there is no call.
	 */
	@Nullable CallDecisions decisions(HttpAnswers answers);

	/**
	 * Sets response headers by the most constrained decision so far: one call may pass
	 * several methods.
	 */
	void announce(Decision decision, CallDecisions.Edge edge, HttpAnswers answers);

	/**
	 * Takes the decision that was made for a method before it was called; {@code null} if
	 * there is none, or if it was taken already.
	 */
	default @Nullable MethodVerdict takeDecision(RateLimitedMethod method) {
		return null;
	}

	/**
	 * Runs work for this call, on any thread.
	 */
	default @Nullable Object during(Work work) throws Throwable {
		return work.run();
	}

	/**
	 * The observation of the call for {@link CallTrace.Source}, {@code null} for that of
	 * the thread.
	 */
	default @Nullable Object observation() {
		return null;
	}

	/** Work for a call. */
	@FunctionalInterface
	interface Work {

		@Nullable Object run() throws Throwable;

	}

	/**
	 * Finds calls that are bound to a thread.
	 *
	 * @param finder the call of the current thread, {@code null} outside of any
	 * @param mayMissCalls whether event loops work for calls without being bound to them
	 */
	record Source(Supplier<@Nullable CurrentCall> finder, boolean mayMissCalls) {

		/** For an application without calls. */
		static final Source NONE = new Source(() -> null, false);

	}

}
