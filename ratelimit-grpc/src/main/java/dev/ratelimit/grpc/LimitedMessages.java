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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;

/**
 * Checks each message of a call but the first, for which the call itself was charged.
 * Events of the call wait until the message before them is decided, so no thread waits
 * and no event overtakes another. A service that asks for its next message when it has
 * handled one has at most one waiting here.
 */
final class LimitedMessages<Q> extends ServerCall.Listener<Q> {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

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

	/** Whether the service knows that the call has ended. */
	private boolean ended;

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
		end(this.service::onCancel);
	}

	@Override
	public void onComplete() {
		end(this.service::onComplete);
	}

	@Override
	public void onReady() {
		pass(this.service::onReady);
	}

	private void end(Runnable event) {
		add(() -> {
			endOnce(event);
			return true;
		});
	}

	private void endOnce(Runnable event) {
		if (!this.ended) {
			this.ended = true;
			event.run();
		}
	}

	/** After a refusal or a fault the service gets no more events but the end. */
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
		try {
			passOn();
		}
		catch (RuntimeException | Error ex) {
			// A fault of the service: gRPC ends the call.
			synchronized (this) {
				this.refused = true;
				this.busy = false;
			}
			throw ex;
		}
	}

	private void passOn() {
		BooleanSupplier event = next();
		while (event != null && event.getAsBoolean()) {
			event = next();
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
		if (this.refused || hasCallerLeft()) {
			return true;
		}
		CompletableFuture<Decision> decision;
		try {
			decision = this.check.get();
		}
		catch (RuntimeException ex) {
			refuse(Statuses.of(ex));
			return true;
		}
		if (decision.isDone()) {
			decided(decision, message);
			return true;
		}
		Context context = Context.current();
		decision.whenComplete((decided, failure) -> {
			try {
				this.executor.execute(context.wrap(() -> continueWith(() -> decided(decision, message))));
			}
			catch (RejectedExecutionException ex) {
				if (decided != null) {
					decided.giveBack();
				}
				context.run(() -> continueWith(() -> refuse(Statuses.busy())));
			}
		});
		return false;
	}

	/** Not on a thread of gRPC, which would report a fault of the service. */
	private void continueWith(Runnable step) {
		try {
			step.run();
			passOn();
		}
		catch (RuntimeException | Error ex) {
			logger.error("A gRPC service failed; its call ends", ex);
			continueWith(() -> refuse(Statuses.of(ex)));
		}
	}

	/** The context ends before the event of it comes. */
	private boolean hasCallerLeft() {
		return this.cancelled || Context.current().isCancelled();
	}

	private void decided(CompletableFuture<Decision> future, Q message) {
		Decision decision = future.isCompletedExceptionally() ? null : future.join();
		if (decision == null) {
			refuse(Statuses.of(new IllegalStateException("no decision")));
		}
		else if (hasCallerLeft()) {
			decision.giveBack();
		}
		else if (decision.allowed()) {
			this.service.onMessage(message);
		}
		else {
			refuse(refusal(decision));
		}
	}

	private Throwable refusal(Decision decision) {
		try {
			return this.refusal.apply(decision);
		}
		catch (RuntimeException ex) {
			return Statuses.of(ex);
		}
	}

	/** To the service it looks as if its caller had left. */
	private void refuse(Throwable error) {
		this.refused = true;
		this.call.refuse(error);
		endOnce(this.service::onCancel);
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
