package dev.ratelimit.grpc;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import io.grpc.Context;
import io.grpc.ForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;

/**
 * Checks each message of a call but the first, for which the call itself was charged.
 * Events of the call wait until the message before them is decided, so no thread waits
 * and no event overtakes another. A service that asks for its next message when it has
 * handled one has at most one waiting here.
 */
final class LimitedMessages<Q> extends ServerCall.Listener<Q> {

	private final ServerCall.Listener<Q> service;

	private final Call<Q, ?> call;

	private final Supplier<CompletableFuture<Decision>> check;

	private final Function<Decision, Throwable> refusal;

	private final Executor executor;

	/** Each says whether the next may follow at once. */
	private final Queue<BooleanSupplier> events = new ArrayDeque<>(2);

	/** Whether a thread passes events on, or a message is being decided. */
	private boolean busy;

	private boolean first = true;

	private volatile boolean cancelled;

	private volatile boolean refused;

	/**
	 * @param service where admitted messages go
	 * @param call the call that the service has
	 * @param check decides a message
	 * @param refusal the error of a decision that refuses
	 * @param executor continues with decisions that were not there at once
	 */
	LimitedMessages(ServerCall.Listener<Q> service, Call<Q, ?> call, Supplier<CompletableFuture<Decision>> check,
			Function<Decision, Throwable> refusal, Executor executor) {
		this.service = service;
		this.call = call;
		this.check = check;
		this.refusal = refusal;
		this.executor = executor;
	}

	@Override
	public void onMessage(Q message) {
		add(() -> message(message));
	}

	@Override
	public void onHalfClose() {
		pass(this.service::onHalfClose);
	}

	@Override
	public void onCancel() {
		this.cancelled = true;
		pass(this.service::onCancel);
	}

	@Override
	public void onComplete() {
		pass(this.service::onComplete);
	}

	@Override
	public void onReady() {
		pass(this.service::onReady);
	}

	/** After a refusal the service gets no more events. */
	private void pass(Runnable event) {
		add(() -> {
			if (!this.refused) {
				event.run();
			}
			return true;
		});
	}

	private void add(BooleanSupplier event) {
		synchronized (this) {
			this.events.add(event);
			if (this.busy) {
				return;
			}
			this.busy = true;
		}
		passOn();
	}

	private void passOn() {
		for (BooleanSupplier event = next(); event != null; event = next()) {
			boolean more = false;
			try {
				more = event.getAsBoolean();
			}
			catch (RuntimeException ex) {
				refuse(Statuses.of(ex));
				more = true;
			}
			if (!more) {
				return;
			}
		}
	}

	private synchronized @Nullable BooleanSupplier next() {
		BooleanSupplier next = this.events.poll();
		this.busy = next != null;
		return next;
	}

	private boolean message(Q message) {
		if (this.first) {
			this.first = false;
			this.service.onMessage(message);
			return true;
		}
		if (this.cancelled || this.refused) {
			return true;
		}
		CompletableFuture<Decision> decision = this.check.get();
		if (decision.isDone()) {
			decided(decision, message);
			return true;
		}
		Context context = Context.current();
		decision.whenComplete((decided, failure) -> {
			try {
				this.executor.execute(context.wrap(() -> continueWith(decision, message)));
			}
			catch (RejectedExecutionException ex) {
				if (decided != null) {
					decided.giveBack();
				}
				refuse(Statuses.busy());
				passOn();
			}
		});
		return false;
	}

	private void continueWith(CompletableFuture<Decision> decision, Q message) {
		try {
			decided(decision, message);
		}
		catch (RuntimeException ex) {
			refuse(Statuses.of(ex));
		}
		passOn();
	}

	private void decided(CompletableFuture<Decision> future, Q message) {
		Decision decision = future.isCompletedExceptionally() ? null : future.join();
		if (decision == null) {
			refuse(Statuses.of(new IllegalStateException("no decision")));
		}
		else if (this.cancelled) {
			decision.giveBack();
		}
		else if (decision.allowed()) {
			this.service.onMessage(message);
		}
		else {
			refuse(this.refusal.apply(decision));
		}
	}

	/** To the service it looks as if its caller had left. */
	private void refuse(Throwable error) {
		boolean before = this.refused;
		this.refused = true;
		this.call.refuse(error);
		if (!before) {
			this.service.onCancel();
		}
	}

	/**
	 * A call that can end while the service is still sending.
	 */
	static final class Call<Q, A> extends ForwardingServerCall.SimpleForwardingServerCall<Q, A> {

		private boolean closed;

		Call(ServerCall<Q, A> call) {
			super(call);
		}

		@Override
		public synchronized void sendHeaders(Metadata headers) {
			if (!this.closed) {
				super.sendHeaders(headers);
			}
		}

		@Override
		public synchronized void sendMessage(A message) {
			if (!this.closed) {
				super.sendMessage(message);
			}
		}

		@Override
		public synchronized void close(Status status, Metadata trailers) {
			if (!this.closed) {
				this.closed = true;
				super.close(status, trailers);
			}
		}

		void refuse(Throwable error) {
			Metadata trailers = Status.trailersFromThrowable(error);
			close(Status.fromThrowable(error), (trailers != null) ? trailers : new Metadata());
		}

	}

}
