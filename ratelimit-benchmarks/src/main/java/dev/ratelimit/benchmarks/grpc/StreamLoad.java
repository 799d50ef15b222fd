package dev.ratelimit.benchmarks.grpc;

import java.util.Objects;

import io.grpc.Channel;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.benchmarks.load.Contender;
import dev.ratelimit.grpc.v1.CheckBatch;
import dev.ratelimit.grpc.v1.CheckItem;
import dev.ratelimit.grpc.v1.CheckResult;
import dev.ratelimit.grpc.v1.CheckResults;
import dev.ratelimit.grpc.v1.RateLimiterGrpc;

/**
 * Checks in messages over one stream. Each message is sent again, with other tenants,
 * when all of its checks are answered. Latency is from the message to the answer of each
 * check.
 */
final class StreamLoad extends GrpcLoad {

	private final Channel channel;

	private final Requests requests;

	private final int messages;

	private final int items;

	StreamLoad(Channel channel, Requests requests, int messages, int items) {
		this.channel = channel;
		this.requests = requests;
		this.messages = messages;
		this.items = items;
	}

	@Override
	int callers() {
		return this.messages;
	}

	@Override
	void begin(Run run) {
		Answers answers = new Answers(run);
		answers.begin(RateLimiterGrpc.newStub(this.channel).checkMany(answers));
	}

	private final class Answers implements StreamObserver<CheckResults> {

		private final Run run;

		private final long[] sent = new long[StreamLoad.this.messages];

		private final int[] left = new int[StreamLoad.this.messages];

		private int active = StreamLoad.this.messages;

		private @Nullable StreamObserver<CheckBatch> stream;

		Answers(Run run) {
			this.run = run;
		}

		void begin(StreamObserver<CheckBatch> stream) {
			synchronized (this.run) {
				this.stream = stream;
				for (int message = 0; message < this.sent.length; message++) {
					send(message);
				}
			}
		}

		private void send(int message) {
			CheckBatch.Builder batch = CheckBatch.newBuilder();
			String id = Integer.toString(message);
			for (int i = 0; i < StreamLoad.this.items; i++) {
				batch.addItems(CheckItem.newBuilder().setId(id).setCheck(StreamLoad.this.requests.next()));
			}
			this.left[message] = StreamLoad.this.items;
			this.sent[message] = System.nanoTime();
			stream().onNext(batch.build());
		}

		private StreamObserver<CheckBatch> stream() {
			return Objects.requireNonNull(this.stream);
		}

		@Override
		public void onNext(CheckResults results) {
			long now = System.nanoTime();
			synchronized (this.run) {
				for (CheckResult result : results.getResultsList()) {
					int message = Integer.parseInt(result.getId());
					this.run.tally()
						.add(now - this.sent[message], result.hasResponse() ? Requests.outcome(result.getResponse())
								: Contender.Outcome.FAILED);
					if (--this.left[message] == 0) {
						answered(message, now);
					}
				}
			}
		}

		private void answered(int message, long now) {
			if (this.run.goesOn(now)) {
				send(message);
			}
			else if (--this.active == 0) {
				stream().onCompleted();
			}
		}

		@Override
		public void onError(Throwable failure) {
			synchronized (this.run) {
				this.run.fail(failure);
			}
		}

		@Override
		public void onCompleted() {
		}

	}

}
