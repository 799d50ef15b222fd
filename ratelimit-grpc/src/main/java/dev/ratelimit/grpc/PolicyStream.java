package dev.ratelimit.grpc;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.grpc.stub.ServerCallStreamObserver;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.grpc.v1.PolicyResponse;

/**
 * Sends documents as fast as the client reads them.
 */
final class PolicyStream {

	private final ServerCallStreamObserver<PolicyResponse> client;

	private final Function<Map<String, Object>, PolicyResponse> message;

	private @Nullable Iterator<Map<String, Object>> documents;

	private PolicyStream(Function<Map<String, Object>, PolicyResponse> message,
			ServerCallStreamObserver<PolicyResponse> client) {
		this.client = client;
		this.message = message;
	}

	/**
	 * Sends documents when they are there.
	 */
	static void send(CompletableFuture<List<Map<String, Object>>> documents,
			Function<Map<String, Object>, PolicyResponse> message, ServerCallStreamObserver<PolicyResponse> client) {
		PolicyStream stream = new PolicyStream(message, client);
		client.setOnReadyHandler(stream::more);
		// With a handler, sending to a caller that has left does not throw.
		client.setOnCancelHandler(() -> {
		});
		documents.whenComplete((list, failure) -> {
			if (list != null) {
				stream.begin(list.iterator());
			}
			else if (!client.isCancelled()) {
				client.onError(AdminStatuses.of((failure != null) ? failure : new IllegalStateException("no answer")));
			}
		});
	}

	private synchronized void begin(Iterator<Map<String, Object>> documents) {
		this.documents = documents;
		more();
	}

	private synchronized void more() {
		Iterator<Map<String, Object>> rest = this.documents;
		if (rest == null) {
			return;
		}
		while (rest.hasNext() && this.client.isReady()) {
			this.client.onNext(this.message.apply(rest.next()));
		}
		if (!rest.hasNext()) {
			this.documents = null;
			this.client.onCompleted();
		}
	}

}
