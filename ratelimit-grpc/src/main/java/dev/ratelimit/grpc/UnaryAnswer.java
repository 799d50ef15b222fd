package dev.ratelimit.grpc;

import io.grpc.stub.ServerCallStreamObserver;

/**
 * The one answer of a call.
 *
 * @param <A> the message
 */
final class UnaryAnswer<A> {

	private final ServerCallStreamObserver<A> observer;

	UnaryAnswer(ServerCallStreamObserver<A> observer) {
		this.observer = observer;
		// With a handler, sending to a caller that has left does not throw.
		observer.setOnCancelHandler(() -> {
		});
	}

	/**
	 * Whether the caller has left, because it cancelled the call or its deadline has
	 * passed. What was taken for it is then given back instead of answered.
	 */
	boolean isCancelled() {
		return this.observer.isCancelled();
	}

	void send(A answer) {
		this.observer.onNext(answer);
		this.observer.onCompleted();
	}

	void fail(Throwable failure) {
		if (!isCancelled()) {
			this.observer.onError(Statuses.of(failure));
		}
	}

}
