package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

import io.grpc.Deadline;
import io.grpc.StatusException;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;
import dev.ratelimit.background.Futures;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

/**
 * Decides and answers the checks of messages. A fault of ours is answered by the failure
 * mode of the policy.
 */
final class MessageChecks {

	private static final Way CHECK = new Way("/" + RateLimiterGrpc.getCheckMethod().getFullMethodName(),
			UnaryOperator.identity());

	private final CheckRequests requests;

	private final Deciding deciding;

	private final CheckAnswers answers;

	private final Predicate<String> known;

	/**
	 * Creates it.
	 * @param known whether there is a policy with an id
	 */
	MessageChecks(CheckRequests requests, Deciding deciding, CheckAnswers answers, Predicate<String> known) {
		this.requests = requests;
		this.deciding = deciding;
		this.answers = answers;
		this.known = known;
	}

	/**
	 * The principal of a call, from its token. Fails with a {@link StatusException}.
	 */
	CompletableFuture<@Nullable Principal> principal(CurrentCall call) {
		return this.requests.principal(call);
	}

	/**
	 * Decides a message. Fails only with a {@link StatusException}.
	 * @param principal from {@link #principal}
	 * @param deadline the deadline of the call, {@code null} if it has none
	 */
	CompletableFuture<Decision> decide(CheckRequest message, CurrentCall call,
			CompletableFuture<@Nullable Principal> principal, @Nullable Deadline deadline) {
		return decide(CHECK, message, call, principal, deadline);
	}

	/**
	 * The same for another method that checks.
	 */
	CompletableFuture<Decision> decide(Way way, CheckRequest message, CurrentCall call,
			CompletableFuture<@Nullable Principal> principal, @Nullable Deadline deadline) {
		try {
			return this.requests.resolve(way.path(), message, call, principal)
				.thenCompose(
						(resolved) -> decide(resolved.with(way.request()), call.peer().trusted() ? deadline : null))
				.exceptionallyCompose((failure) -> failed(message, failure));
		}
		catch (RuntimeException ex) {
			return failed(message, ex);
		}
	}

	private CompletableFuture<Decision> decide(CheckRequests.Resolved resolved, @Nullable Deadline deadline) {
		Request request = resolved.request();
		if (!this.known.test(request.policy())) {
			return CompletableFuture.failedFuture(Statuses.notFound("policy: there is no policy with this id"));
		}
		return (resolved.failure() != null) ? this.deciding.degrade(request, resolved.failure())
				: this.deciding.decide(request, deadline);
	}

	private CompletableFuture<Decision> failed(CheckRequest message, Throwable failure) {
		Throwable cause = Futures.cause(failure);
		return (cause instanceof StatusException) ? CompletableFuture.failedFuture(cause)
				: this.deciding.degrade(Request.of(message.getPolicy()), cause);
	}

	/**
	 * The answer to a check. Permits of an answer that cannot be made are given back.
	 * @throws StatusException as in {@link CheckAnswers#answer}
	 */
	CheckResponse answer(Decision decision) throws StatusException {
		try {
			return this.answers.answer(decision);
		}
		catch (StatusException | RuntimeException ex) {
			decision.giveBack();
			throw ex;
		}
	}

	/**
	 * How a method asks.
	 *
	 * @param path of the method
	 * @param request changes the request of a message
	 */
	record Way(String path, UnaryOperator<Request> request) {
	}

}
