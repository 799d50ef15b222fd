package dev.ratelimit.store;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;

/**
 * Decisions of operators that wait for the replica's thread. Each completes even if the
 * replica is closed first.
 */
final class PendingDecisions {

	private final Queue<PendingDecision> waiting = new ConcurrentLinkedQueue<>();

	private volatile boolean closed;

	CompletionStage<Void> add(Runnable work) {
		PendingDecision pending = new PendingDecision(work, new CompletableFuture<>());
		this.waiting.add(pending);
		if (this.closed) {
			refuseAll();
		}
		return pending.done();
	}

	void runAll() {
		for (PendingDecision pending = this.waiting.poll(); pending != null; pending = this.waiting.poll()) {
			try {
				pending.work().run();
				pending.done().complete(null);
			}
			catch (RuntimeException ex) {
				pending.done().completeExceptionally(ex);
			}
		}
	}

	/** Fails all decisions, present and future. */
	void close() {
		this.closed = true;
		refuseAll();
	}

	void refuseAll() {
		for (PendingDecision pending = this.waiting.poll(); pending != null; pending = this.waiting.poll()) {
			pending.done()
				.completeExceptionally(new RejectedExecutionException("this instance does not follow the store"));
		}
	}

	private record PendingDecision(Runnable work, CompletableFuture<Void> done) {
	}

}
