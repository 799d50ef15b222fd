package dev.ratelimit.grpc;

import io.grpc.Context;
import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

import dev.ratelimit.Decision;
import dev.ratelimit.grpc.v1.CheckBatch;
import dev.ratelimit.grpc.v1.CheckRequest;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.CheckResults;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;
import dev.ratelimit.web.CallTrace;

/**
 * The native service.
 */
final class RateLimiterService extends RateLimiterGrpc.RateLimiterImplBase {

	private final MessageChecks checks;

	private final CallTrace.Source traces;

	RateLimiterService(MessageChecks checks, CallTrace.Source traces) {
		this.checks = checks;
		this.traces = traces;
	}

	@Override
	public void check(CheckRequest message, StreamObserver<CheckResponse> observer) {
		CallTrace trace = this.traces.find(null);
		UnaryAnswer<CheckResponse> answer = new UnaryAnswer<>((ServerCallStreamObserver<CheckResponse>) observer);
		CurrentCall call = CurrentCall.get();
		this.checks.decide(message, call, this.checks.principal(call), Context.current().getDeadline())
			.whenComplete((decision, failure) -> {
				if (decision == null) {
					answer.fail((failure != null) ? failure : new IllegalStateException("no decision"));
				}
				else if (answer.isCancelled()) {
					decision.giveBack();
				}
				else {
					trace.decided(decision);
					send(decision, answer);
				}
			});
	}

	@Override
	public StreamObserver<CheckBatch> checkMany(StreamObserver<CheckResults> observer) {
		return CheckStream.open(this.checks, CurrentCall.get(), (ServerCallStreamObserver<CheckResults>) observer);
	}

	private void send(Decision decision, UnaryAnswer<CheckResponse> answer) {
		try {
			answer.send(this.checks.answer(decision));
		}
		catch (StatusException | RuntimeException ex) {
			answer.fail(ex);
		}
	}

}
