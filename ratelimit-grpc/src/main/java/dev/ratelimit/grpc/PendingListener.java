package dev.ratelimit.grpc;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.grpc.ServerCall;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the events of a call until it is decided, then passes them on in their order.
 * Nobody asks for messages before, so that it keeps only a few.
 *
 * @param <Q> the messages of the caller
 */
final class PendingListener<Q> extends ServerCall.Listener<Q> {

	private @Nullable List<Consumer<ServerCall.Listener<Q>>> waiting = new ArrayList<>(2);

	private ServerCall.@Nullable Listener<Q> delegate;

	private volatile boolean cancelled;

	/** Whether the caller has left. */
	boolean isCancelled() {
		return this.cancelled;
	}

	/**
	 * Passes on what was kept, and from then on everything.
	 */
	void open(ServerCall.Listener<Q> delegate) {
		for (List<Consumer<ServerCall.Listener<Q>>> kept = take(delegate); !kept.isEmpty(); kept = take(delegate)) {
			kept.forEach((event) -> event.accept(delegate));
		}
	}

	/** Events that come meanwhile are kept, so that none overtakes another. */
	private synchronized List<Consumer<ServerCall.Listener<Q>>> take(ServerCall.Listener<Q> delegate) {
		List<Consumer<ServerCall.Listener<Q>>> kept = (this.waiting != null) ? this.waiting : List.of();
		this.delegate = delegate;
		this.waiting = kept.isEmpty() ? null : new ArrayList<>(2);
		return kept;
	}

	private void pass(Consumer<ServerCall.Listener<Q>> event) {
		ServerCall.Listener<Q> open;
		synchronized (this) {
			open = this.delegate;
			if (open == null || this.waiting != null) {
				if (this.waiting != null) {
					this.waiting.add(event);
				}
				return;
			}
		}
		event.accept(open);
	}

	@Override
	public void onMessage(Q message) {
		pass((listener) -> listener.onMessage(message));
	}

	@Override
	public void onHalfClose() {
		pass(ServerCall.Listener::onHalfClose);
	}

	@Override
	public void onCancel() {
		this.cancelled = true;
		pass(ServerCall.Listener::onCancel);
	}

	@Override
	public void onComplete() {
		pass(ServerCall.Listener::onComplete);
	}

	@Override
	public void onReady() {
		pass(ServerCall.Listener::onReady);
	}

}
