package dev.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Decides whether a request may go on.
 */
@FunctionalInterface
public interface RateLimiter {

	/**
	 * Checks every limit of the request's policy, all-or-nothing: a refused request takes
	 * nothing anywhere.
	 */
	CompletionStage<Decision> check(Request request);

	/**
	 * Checks a request on a thread that cannot wait. An answer that is there at once is
	 * obeyed; before any other the failure mode answers, and what a request that it turns
	 * away takes after all is given back.
	 */
	default Decision checkNow(Request request) {
		CompletableFuture<Decision> decision = check(request).toCompletableFuture();
		if (decision.isDone()) {
			return decision.join();
		}
		Decision instead = degrade(request, new IllegalStateException("the answer was not there at once"))
			.toCompletableFuture()
			.join();
		if (!instead.allowed()) {
			decision.thenAccept(Decision::giveBack);
		}
		return instead;
	}

	/**
	 * Decides a request that could not be resolved, so that it cannot be counted: by the
	 * failure mode of its policy.
	 * @param request what is known of it
	 * @param failure why it could not be resolved
	 */
	default CompletionStage<Decision> degrade(Request request, Throwable failure) {
		return CompletableFuture
			.completedStage(Decision.without(request, 0, true, Decision.Outcome.ERROR, Decision.Reason.INTERNAL));
	}

	/**
	 * Takes permits up front, in full or in part, to be spent one by one until they
	 * expire.
	 */
	default CompletionStage<Reservation> reserve(Request request, Duration expiry) {
		return check(request).thenApply((decision) -> new Reservation(decision, expiry, System::nanoTime));
	}

}
