package dev.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Decides whether a request may proceed.
 */
@FunctionalInterface
public interface RateLimiter {

	/**
	 * Checks every limit of the request's policy. A refused request takes no permits from
	 * any limit.
	 */
	CompletionStage<Decision> check(Request request);

	/**
	 * Checks a request on a thread that must not wait, such as an event loop. If the
	 * decision is not complete at once, the failure mode decides; if it refuses, permits
	 * that the late decision takes are given back.
	 */
	default Decision checkNow(Request request) {
		CompletableFuture<Decision> decision = check(request).toCompletableFuture();
		if (decision.isDone()) {
			return decision.join();
		}
		Decision instead = degrade(request, new IllegalStateException("the limiter did not answer at once"))
			.toCompletableFuture()
			.join();
		if (!instead.allowed()) {
			decision.thenAccept(Decision::giveBack);
		}
		return instead;
	}

	/**
	 * Checks a request whose caller waits no longer than until {@code end} completes. If
	 * the decision is not complete by then, the failure mode decides as in
	 * {@link #checkNow}; the breaker does not count it.
	 */
	default CompletionStage<Decision> checkUntil(Request request, CompletionStage<?> end) {
		CompletableFuture<Decision> answer = new CompletableFuture<>();
		CompletableFuture<Decision> decision = check(request).toCompletableFuture();
		decision.thenAccept((decided) -> {
			if (!answer.complete(decided)) {
				answer.thenAccept((instead) -> {
					if (!instead.allowed()) {
						decided.giveBack();
					}
				});
			}
		}).exceptionally((failure) -> {
			answer.completeExceptionally(failure);
			return null;
		});
		end.thenRun(() -> {
			if (!answer.isDone()) {
				degrade(request, new IllegalStateException("the limiter did not answer in time"))
					.thenAccept(answer::complete);
			}
		});
		return answer;
	}

	/**
	 * Charges the cost of a request that has already taken place, without a check and up
	 * to a debt of one burst. Lists, the switch and failure modes hold as in
	 * {@link #check}. A limiter that knows no debt checks the request.
	 * @return the decision about reading the counters, before they were charged
	 */
	default CompletionStage<Decision> charge(Request request) {
		return check(request);
	}

	/**
	 * Gives back the cost of a request that has already taken place and whose decision is
	 * not known here. Counters are never above full, and a window that is over takes
	 * nothing back. Lists, the switch and failure modes hold as in {@link #check}. A
	 * limiter that cannot do so only reads.
	 * @return the decision about reading the counters, before the give-back
	 */
	default CompletionStage<Decision> giveBack(Request request) {
		return check(request.withCost(0));
	}

	/**
	 * Decides a request whose caller has no time to wait for counters: lists and the
	 * switch hold as in {@link #check}, but no counter is asked, and the failure mode
	 * decides in its place.
	 */
	default CompletionStage<Decision> checkUnasked(Request request) {
		return degrade(request, new IllegalStateException("there was no time to ask the limiter"));
	}

	/**
	 * Decides a request by the failure mode of its policy, because the facts that it is
	 * counted by are not known.
	 * @param request the known facts of the request
	 * @param failure the error that hides the other facts
	 */
	default CompletionStage<Decision> degrade(Request request, Throwable failure) {
		return CompletableFuture
			.completedStage(Decision.without(request, 0, true, Decision.Outcome.ERROR, Decision.Reason.INTERNAL));
	}

	/**
	 * Takes permits in advance. The caller spends them one by one until they expire.
	 */
	default CompletionStage<Reservation> reserve(Request request, Duration expiry) {
		return check(request).thenApply((decision) -> new Reservation(decision, expiry, System::nanoTime));
	}

}
