package dev.ratelimit.refusal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that writes down what was noticed: lines at once, entries in batches, one
 * batch after the other. It never waits for the history, so that the log goes on without.
 */
final class RefusalWriter {

	private static final Logger logger = LoggerFactory.getLogger(RefusalRecorder.class);

	private static final long PAUSE_MILLIS = 100;

	private static final long TIMEOUT_MILLIS = 1_000;

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	/** About half a millisecond of Redis's time, during which nobody else is served. */
	private static final int BATCH = 50;

	private static final int MOST_WAITING = 2_000;

	private final RefusalQueue queue;

	private final KeyCaps keys;

	private final RefusalLines lines;

	private final RefusalHistory history;

	private final LongAdder missing;

	private final Function<Noticed, Refusal> refusal;

	private final Function<KeyCaps.Repeats, Refusal> repeated;

	private final LongSupplier nanos;

	private final List<Refusal> waiting = new ArrayList<>();

	private final CountDownLatch ended = new CountDownLatch(1);

	private CompletableFuture<?> written = CompletableFuture.completedFuture(null);

	private long suppressedTold;

	private volatile boolean failing;

	private @Nullable Thread thread;

	RefusalWriter(RefusalQueue queue, KeyCaps keys, RefusalLines lines, RefusalHistory history, LongAdder missing,
			Function<Noticed, Refusal> refusal, Function<KeyCaps.Repeats, Refusal> repeated, LongSupplier nanos) {
		this.queue = queue;
		this.keys = keys;
		this.lines = lines;
		this.history = history;
		this.missing = missing;
		this.refusal = refusal;
		this.repeated = repeated;
		this.nanos = nanos;
		this.suppressedTold = nanos.getAsLong();
	}

	synchronized void start() {
		if (this.thread == null) {
			this.thread = new Thread(this::run, "ratelimit-refusals");
			this.thread.setDaemon(true);
			this.thread.start();
		}
	}

	synchronized void close() {
		this.ended.countDown();
		if (this.thread != null) {
			try {
				this.thread.join(2 * TIMEOUT_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private void run() {
		try {
			while (!this.ended.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
				write();
			}
			write();
			this.lines.writeSuppressed();
			this.written.get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (Exception ex) {
			logger.debug("The last refusals could not be written", ex);
		}
	}

	/**
	 * One turn. A log or a history that throws costs what it threw at, not the next turn.
	 */
	void write() {
		for (Noticed noticed = this.queue.poll(); noticed != null; noticed = this.queue.poll()) {
			try {
				write(noticed);
			}
			catch (RuntimeException ex) {
				lost(noticed.entry() ? 1 : 0, ex.getClass().getName());
			}
		}
		try {
			long now = this.nanos.getAsLong();
			this.keys.turn(now).forEach((repeats) -> enqueue(this.repeated.apply(repeats)));
			if (now - this.suppressedTold >= SECOND) {
				this.suppressedTold = now;
				this.lines.writeSuppressed();
			}
			flush();
		}
		catch (RuntimeException ex) {
			lost(0, ex.getClass().getName());
		}
	}

	private void write(Noticed noticed) {
		Refusal refusal = this.refusal.apply(noticed);
		if (noticed.entry()) {
			enqueue(refusal);
		}
		if (noticed.line()) {
			this.lines.write(refusal, noticed.refused());
		}
	}

	private void enqueue(Refusal refusal) {
		if (this.waiting.size() < MOST_WAITING) {
			this.waiting.add(refusal);
		}
		else {
			this.missing.add(Math.max(1, refusal.repeated()));
		}
	}

	private void flush() {
		if (this.waiting.isEmpty() || !this.written.isDone()) {
			return;
		}
		List<Refusal> next = this.waiting.subList(0, Math.min(BATCH, this.waiting.size()));
		List<Refusal> batch = List.copyOf(next);
		next.clear();
		this.written = this.history.add(batch)
			.toCompletableFuture()
			.copy()
			.orTimeout(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
			.whenComplete((done, failure) -> {
				if (failure != null) {
					lost(batch.stream().mapToLong((refusal) -> Math.max(1, refusal.repeated())).sum(), cause(failure));
				}
				else if (this.failing) {
					this.failing = false;
					logger.info("Refusals are kept again; {} are missing since the start", this.missing.sum());
				}
			})
			.exceptionally((failure) -> null);
	}

	private static String cause(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		return (cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getSimpleName();
	}

	/**
	 * Errors of the log or of pseudonyms may name a caller, those of a history do not.
	 */
	private void lost(long count, String why) {
		this.missing.add(count);
		if (!this.failing) {
			this.failing = true;
			logger.warn("Refusals cannot be written down ({}); decisions are not affected", why);
		}
	}

}
