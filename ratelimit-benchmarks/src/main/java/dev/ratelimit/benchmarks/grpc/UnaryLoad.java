package dev.ratelimit.benchmarks.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;

import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.grpc.v1.CheckResponse;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

/**
 * Checks, one call each.
 */
final class UnaryLoad extends GrpcLoad {

	private final Channel channel;

	private final Requests requests;

	private final int inFlight;

	UnaryLoad(Channel channel, Requests requests, int inFlight) {
		this.channel = channel;
		this.requests = requests;
		this.inFlight = inFlight;
	}

	@Override
	int callers() {
		return this.inFlight;
	}

	@Override
	void begin(Run run) {
		synchronized (run) {
			for (int i = 0; i < this.inFlight; i++) {
				send(run);
			}
		}
	}

	private void send(Run run) {
		ClientCalls.asyncUnaryCall(this.channel.newCall(RateLimiterGrpc.getCheckMethod(), CallOptions.DEFAULT),
				this.requests.next(), new Answer(run));
	}

	private final class Answer implements StreamObserver<CheckResponse> {

		private final Run run;

		private final long sent = System.nanoTime();

		Answer(Run run) {
			this.run = run;
		}

		@Override
		public void onNext(CheckResponse answer) {
			ended(Requests.outcome(answer));
		}

		@Override
		public void onError(Throwable failure) {
			ended(Contender.Outcome.FAILED);
		}

		@Override
		public void onCompleted() {
		}

		private void ended(Contender.Outcome outcome) {
			long now = System.nanoTime();
			synchronized (this.run) {
				this.run.tally().add(now - this.sent, outcome);
				if (this.run.goesOn(now)) {
					send(this.run);
				}
			}
		}

	}

}
