package dev.ratelimit.web;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;

/**
 * Resolves a call and checks it, for every edge. A fault of the limiter never becomes a
 * fault of the call: the failure mode of the policy answers for a limiter or a resolver
 * that fails. If the failure mode fails too, the call passes unless the deny-list names
 * its caller.
 */
public final class CallCheck {

	private static final Logger logger = LoggerFactory.getLogger(CallCheck.class);

	private final RequestResolver resolver;

	private final RateLimiter limiter;

	private final FailureLog failures = new FailureLog(logger,
			"The rate limiter failed with {}; policies use their failure mode until it decides again",
			"The rate limiter decides again");

	public CallCheck(RequestResolver resolver, RateLimiter limiter) {
		this.resolver = resolver;
		this.limiter = limiter;
	}

	/**
	 * Decides a call. The decision fails only for an invalid cost, with an
	 * {@link IllegalArgumentException}.
	 */
	public CompletableFuture<Decision> decide(Subject subject) {
		return decide(subject, true);
	}

	/**
	 * Decides a call on a thread that must not wait: by the facts and permits that are
	 * available at once.
	 * @throws IllegalArgumentException for an invalid cost
	 */
	public Decision decideNow(Subject subject) {
		CompletableFuture<Decision> decision = decide(subject, false);
		return decision.isDone() ? decision.join() : lastResort(unresolved(subject));
	}

	/**
	 * Checks a request that an edge has resolved itself. The decision never fails.
	 */
	public CompletableFuture<Decision> check(Request request) {
		return check(request, true);
	}

	/**
	 * The same for a caller that waits no longer than until {@code end} completes.
	 */
	public CompletableFuture<Decision> checkUntil(Request request, CompletionStage<?> end) {
		return checked(request, () -> this.limiter.checkUntil(request, end).toCompletableFuture());
	}

	/**
	 * Charges a request that has already taken place.
	 */
	public CompletableFuture<Decision> charge(Request request) {
		return checked(request, () -> this.limiter.charge(request).toCompletableFuture());
	}

	/**
	 * Gives back the cost of a request that has already taken place.
	 */
	public CompletableFuture<Decision> giveBack(Request request) {
		return checked(request, () -> this.limiter.giveBack(request).toCompletableFuture());
	}

	/**
	 * The same for a caller that has no time for the answer of a counter.
	 */
	public CompletableFuture<Decision> checkUnasked(Request request) {
		return checked(request, () -> this.limiter.checkUnasked(request).toCompletableFuture());
	}

	private CompletableFuture<Decision> decide(Subject subject, boolean waits) {
		CompletableFuture<Request> request = this.resolver.resolve(subject.call, subject.policy, subject.cost,
				subject.dimensions);
		if (!waits && !request.isDone()) {
			return check(numbered(subject, unresolved(subject)), false);
		}
		if (request.isDone() && !request.isCompletedExceptionally()) {
			return check(subject, request.join(), waits);
		}
		return request
			.handle((resolved, failure) -> (failure == null) ? check(subject, resolved, waits)
					: degrade(unresolved(subject), failure))
			.thenCompose(Function.identity());
	}

	/**
	 * A decision before authentication may have paid, but knew no more of the caller than
	 * the address: lists, bans and overrides are asked again, at a cost of 0.
	 */
	private CompletableFuture<Decision> check(Subject subject, Request request, boolean waits) {
		RuntimeException objection = (subject.objection != null) ? subject.objection.apply(request) : null;
		if (objection != null) {
			return degrade(request, objection);
		}
		CallDecisions.Paid paid = (subject.charged != null) ? subject.charged.paid(subject.policy) : null;
		if (paid == null || request.unresolved().cost()) {
			return check(numbered(subject, request), waits);
		}
		long due = request.cost() - paid.cost();
		if (due > 0 || paid.beforeAuthentication()) {
			return check(numbered(subject, request).withCost(Math.max(due, 0)), waits);
		}
		return CompletableFuture.completedFuture(paid.latest());
	}

	/**
	 * The request with the number of its check: the second check of a call by one policy
	 * is not a retry of the first.
	 */
	private static Request numbered(Subject subject, Request request) {
		String key = request.idempotencyKey();
		int number = (key != null) ? subject.call.countCheck(request.policy()) : 0;
		return (number > 0) ? request.withIdempotencyKey(key + ' ' + number) : request;
	}

	/** The facts of a call that are known without waiting. */
	private Request unresolved(Subject subject) {
		return this.resolver.requestFor(subject.call, subject.policy, subject.cost, subject.dimensions);
	}

	private CompletableFuture<Decision> check(Request request, boolean waits) {
		return checked(request, () -> waits ? this.limiter.check(request).toCompletableFuture()
				: CompletableFuture.completedFuture(this.limiter.checkNow(request)));
	}

	private CompletableFuture<Decision> checked(Request request, Supplier<CompletableFuture<Decision>> limiter) {
		try {
			CompletableFuture<Decision> decision = limiter.get();
			if (decision.isDone() && !decision.isCompletedExceptionally()) {
				decided(decision.join());
				return decision;
			}
			return decision.thenApply(this::decided).exceptionallyCompose((failure) -> failed(request, failure));
		}
		catch (RuntimeException | LinkageError | StackOverflowError ex) {
			return failed(request, ex);
		}
	}

	private Decision decided(@Nullable Decision decision) {
		Objects.requireNonNull(decision, "no decision");
		// Asked first: the call would make an array for its arguments.
		if (this.failures.isFailing()) {
			this.failures.worked();
		}
		return decision;
	}

	/** Logs the kind of failure only: its message may hold facts about a caller. */
	private CompletableFuture<Decision> failed(Request request, Throwable failure) {
		Throwable cause = Futures.cause(failure);
		this.failures.failed(cause.getClass().getName());
		return degrade(request, cause);
	}

	/**
	 * Lets the failure mode of the policy answer, without asking a counter. The decision
	 * never fails.
	 */
	public CompletableFuture<Decision> degrade(Request request, Throwable failure) {
		try {
			return this.limiter.degrade(request, failure)
				.handle((decided, again) -> (decided != null) ? decided : lastResort(request))
				.toCompletableFuture();
		}
		catch (RuntimeException | LinkageError | StackOverflowError ex) {
			return CompletableFuture.completedFuture(lastResort(request));
		}
	}

	private Decision lastResort(Request request) {
		if (this.resolver.denies(request)) {
			return Decision.without(request, 0, false, Decision.Outcome.DENIED, Decision.Reason.LIST);
		}
		return Decision.without(request, 0, true, Decision.Outcome.ERROR, Decision.Reason.INTERNAL);
	}

	/**
	 * A call and how it is limited.
	 *
	 * @param policy id of the policy that decides
	 * @param cost as in {@link RequestResolver#resolve}
	 * @param dimensions as in {@link RequestResolver#resolve}
	 * @param charged decisions that have paid for this one if they are about the same
	 * policy; {@code null} if it is charged by itself
	 * @param objection says why a resolved request must not be counted, so that the
	 * failure mode answers, or {@code null} if it is counted; {@code null} if all are
	 */
	public record Subject(WebCall call, String policy, @Nullable Long cost, Map<String, DimensionResolver> dimensions,
			@Nullable CallDecisions charged, @Nullable Function<Request, @Nullable RuntimeException> objection) {
	}

}
