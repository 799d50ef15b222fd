package dev.ratelimit.grpc;

import java.util.concurrent.CompletableFuture;

import io.grpc.stub.StreamObserver;

/**
 * The first answer of a call.
 *
 * @param <T> the message
 */
record FirstAnswer<T>(CompletableFuture<T> message) implements StreamObserver<T> {

	FirstAnswer() {
		this(new CompletableFuture<>());
	}

	@Override
	public void onNext(T next) {
		this.message.complete(next);
	}

	@Override
	public void onError(Throwable failure) {
		this.message.completeExceptionally(failure);
	}

	@Override
	public void onCompleted() {
	}

}
