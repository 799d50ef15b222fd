package dev.ratelimit;

import java.time.Duration;
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
	 * Takes permits up front, in full or in part, to be spent one by one until they
	 * expire.
	 */
	default CompletionStage<Reservation> reserve(Request request, Duration expiry) {
		return check(request).thenApply((decision) -> new Reservation(decision, expiry, System::nanoTime));
	}

}
