package dev.ratelimit.grpc;

import java.security.Principal;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.grpc.v1.CheckBatch;
import dev.ratelimit.grpc.v1.CheckItem;
import dev.ratelimit.grpc.v1.CheckResult;
import dev.ratelimit.grpc.v1.CheckResults;

/**
 * One stream of checks. Items are decided as they come and answered in any order.
 *
 * <p>
 * An item is in flight from its message until its result is handed to gRPC. The next
 * message is asked for only if a full one fits under the bound and the client reads: a
 * client that does not read gets no further, and holds at most {@link #MOST_IN_FLIGHT}
 * results. Whichever thread finishes an item may send, but only one at a time: the others
 * leave a mark in {@link #marks} and go (as in the drain loops of reactive queues).
 */
final class CheckStream implements StreamObserver<CheckBatch> {

	static final int MOST_IN_FLIGHT = 1_000;

	/** Of a message in either direction. */
	static final int MOST_ITEMS = 500;

	private final MessageChecks checks;

	private final CurrentCall call;

	private final ServerCallStreamObserver<CheckResults> client;

	private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();

	private final AtomicInteger inFlight = new AtomicInteger();

	private final AtomicInteger marks = new AtomicInteger();

	/** Set when a message was asked for, until it is here. */
	private volatile boolean asked;

	private volatile boolean halfClosed;

	private volatile @Nullable StatusException failure;

	/** Only the thread that sends uses it. */
	private boolean closed;

	private CheckStream(MessageChecks checks, CurrentCall call, ServerCallStreamObserver<CheckResults> client) {
		this.checks = checks;
		this.call = call;
		this.client = client;
	}

	/**
	 * Begins a stream, before its call has started.
	 */
	static CheckStream open(MessageChecks checks, CurrentCall call, ServerCallStreamObserver<CheckResults> client) {
		CheckStream stream = new CheckStream(checks, call, client);
		client.disableAutoRequest();
		client.setOnReadyHandler(stream::drain);
		client.setOnCancelHandler(stream::drain);
		return stream;
	}

	@Override
	public void onNext(CheckBatch batch) {
		if (batch.getItemsCount() > MOST_ITEMS) {
			this.failure = Statuses.invalid("items", "must be at most " + MOST_ITEMS);
			drain();
			return;
		}
		this.inFlight.addAndGet(batch.getItemsCount());
		this.asked = false;
		// Held until the whole message is decided, so that results share a message too.
		boolean first = this.marks.getAndIncrement() == 0;
		// Once for the message: the token may expire while the stream is open.
		CompletableFuture<@Nullable Principal> principal = this.checks.principal(this.call);
		batch.getItemsList().forEach((item) -> decide(item, principal));
		if (first) {
			drainMarked();
		}
	}

	/** The deadline of the stream says nothing about how long an item may take. */
	private void decide(CheckItem item, CompletableFuture<@Nullable Principal> principal) {
		this.checks.decide(item.getCheck(), this.call, principal, null).whenComplete((decision, failure) -> {
			this.outcomes.add(new Outcome(item.getId(), decision, failure));
			drain();
		});
	}

	@Override
	public void onCompleted() {
		this.halfClosed = true;
		drain();
	}

	/** The client has cancelled; its handler gives back. */
	@Override
	public void onError(Throwable failure) {
		drain();
	}

	private void drain() {
		if (this.marks.getAndIncrement() == 0) {
			drainMarked();
		}
	}

	private void drainMarked() {
		int seen = this.marks.get();
		while (seen != 0) {
			drainOnce();
			seen = this.marks.addAndGet(-seen);
		}
	}

	private void drainOnce() {
		StatusException failure = this.failure;
		if (this.closed || this.client.isCancelled()) {
			giveBack();
		}
		else if (failure != null) {
			this.closed = true;
			giveBack();
			this.client.onError(failure);
		}
		else {
			// Read first: items of earlier messages are in the number then.
			boolean last = this.halfClosed;
			while (this.client.isReady() && !this.outcomes.isEmpty()) {
				this.client.onNext(results());
			}
			if (last && this.inFlight.get() == 0) {
				this.closed = true;
				this.client.onCompleted();
			}
			else if (!last) {
				ask();
			}
		}
	}

	private void ask() {
		if (!this.asked && this.inFlight.get() + MOST_ITEMS <= MOST_IN_FLIGHT && this.client.isReady()) {
			this.asked = true;
			this.client.request(1);
		}
	}

	private CheckResults results() {
		CheckResults.Builder results = CheckResults.newBuilder();
		Outcome next = this.outcomes.poll();
		while (next != null) {
			results.addResults(result(next));
			next = (results.getResultsCount() < MOST_ITEMS) ? this.outcomes.poll() : null;
		}
		this.inFlight.addAndGet(-results.getResultsCount());
		return results.build();
	}

	private CheckResult result(Outcome outcome) {
		CheckResult.Builder result = CheckResult.newBuilder().setId(outcome.id());
		Throwable failure = outcome.failure();
		if (outcome.decision() != null) {
			try {
				return result.setResponse(this.checks.answer(outcome.decision())).build();
			}
			catch (StatusException | RuntimeException ex) {
				failure = ex;
			}
		}
		Throwable error = Statuses.of((failure != null) ? failure : new IllegalStateException("no decision"));
		return result.setError(StatusProto.fromThrowable(error)).build();
	}

	/** Nobody will see these results: what was taken for them goes back. */
	private void giveBack() {
		for (Outcome outcome = this.outcomes.poll(); outcome != null; outcome = this.outcomes.poll()) {
			if (outcome.decision() != null) {
				outcome.decision().giveBack();
			}
		}
	}

	/** How an item ended: with a decision, or with a failure. */
	private record Outcome(String id, @Nullable Decision decision, @Nullable Throwable failure) {
	}

}
