package dev.ratelimit.store;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;

/**
 * What operators have decided and the replica has still to do, on its own thread. Each of
 * them ends, also when the replica ends first: nobody must wait for it forever.
 */
final class PendingDecisions {

	private final Queue<Pending> waiting = new ConcurrentLinkedQueue<>();

	private volatile boolean closed;

	CompletionStage<Void> add(Runnable work) {
		Pending pending = new Pending(work, new CompletableFuture<>());
		this.waiting.add(pending);
		if (this.closed) {
			refuseAll();
		}
		return pending.done();
	}

	void runAll() {
		for (Pending pending = this.waiting.poll(); pending != null; pending = this.waiting.poll()) {
			try {
				pending.work().run();
				pending.done().complete(null);
			}
			catch (RuntimeException ex) {
				pending.done().completeExceptionally(ex);
			}
		}
	}

	/** Fails what is waiting, and what comes from now on. */
	void close() {
		this.closed = true;
		refuseAll();
	}

	private void refuseAll() {
		for (Pending pending = this.waiting.poll(); pending != null; pending = this.waiting.poll()) {
			pending.done()
				.completeExceptionally(
						new RejectedExecutionException("this instance does not follow the store any more"));
		}
	}

	private record Pending(Runnable work, CompletableFuture<Void> done) {
	}

}
