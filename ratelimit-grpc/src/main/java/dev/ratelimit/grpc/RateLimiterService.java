package dev.ratelimit.grpc;

import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

import io.grpc.Context;
import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

/**
 * The native service.
 */
final class RateLimiterService extends RateLimiterGrpc.RateLimiterImplBase {

	private static final String CHECK = "/" + RateLimiterGrpc.getCheckMethod().getFullMethodName();

	private final CheckRequests requests;

	private final Deciding deciding;

	private final CheckAnswers answers;

	private final Predicate<String> known;

	/**
	 * Creates the service.
	 * @param known whether there is a policy with an id
	 */
	RateLimiterService(CheckRequests requests, Deciding deciding, CheckAnswers answers, Predicate<String> known) {
		this.requests = requests;
		this.deciding = deciding;
		this.answers = answers;
		this.known = known;
	}

	@Override
	public void check(CheckRequest message, StreamObserver<CheckResponse> observer) {
		CurrentCall call = CurrentCall.get();
		Context context = Context.current();
		UnaryAnswer<CheckResponse> answer = new UnaryAnswer<>((ServerCallStreamObserver<CheckResponse>) observer);
		this.requests.resolve(CHECK, message, call)
			.thenCompose((request) -> decide(request, call, context))
			.whenComplete((decision, failure) -> {
				if (decision == null) {
					answer.fail((failure != null) ? failure : new IllegalStateException("no decision"));
				}
				else {
					answer(decision, answer);
				}
			});
	}

	private void answer(Decision decision, UnaryAnswer<CheckResponse> answer) {
		if (answer.isCancelled()) {
			decision.giveBack();
			return;
		}
		try {
			answer.send(this.answers.answer(decision));
		}
		catch (StatusException | RuntimeException ex) {
			answer.fail(ex);
		}
	}

	private CompletableFuture<Decision> decide(Request request, CurrentCall call, Context context) {
		if (!this.known.test(request.policy())) {
			return CompletableFuture.failedFuture(unknownPolicy());
		}
		return this.deciding.decide(request, call.peer().trusted() ? context.getDeadline() : null);
	}

	private static StatusException unknownPolicy() {
		return Statuses.notFound("policy: there is no policy with this id");
	}

}
