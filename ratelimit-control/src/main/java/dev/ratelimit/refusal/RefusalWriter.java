package dev.ratelimit.refusal;

import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Handoff;
import dev.ratelimit.background.Loop;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.json.Json;
import dev.ratelimit.json.JsonObject;

/**
 * Writes queued refusals on a background thread: lines at once, entries in batches, one
 * batch after the other. It never waits for the history, so that a slow history does not
 * hold up the log.
 */
final class RefusalWriter {

	private static final Logger logger = LoggerFactory.getLogger(RefusalRecorder.class);

	private static final Logger log = LoggerFactory.getLogger(RefusalRecorder.LOGGER);

	private static final Duration PAUSE = Duration.ofMillis(100);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	/** Occupies Redis for about half a millisecond. */
	private static final int BATCH = 50;

	private static final int MAX_WAITING = 2_000;

	private final Handoff<QueuedRefusal> queue;

	private final KeyCaps keys;

	private final RefusalHistory history;

	private final CallerNames names;

	private final String instance;

	private final LongAdder suppressed;

	private final LongAdder missing;

	private final InstantSource clock;

	private final LongSupplier nanos;

	private final List<Refusal> waiting = new ArrayList<>();

	private final FailureLog failures = new FailureLog(logger,
			"Refusals cannot be written down ({}); decisions are not affected",
			"Refusals are kept again; {} are missing since the start");

	private final Loop loop = new Loop("ratelimit-refusals", this::turn, this::writeRest);

	private CompletableFuture<?> written = CompletableFuture.completedFuture(null);

	private long suppressedLogged;

	/**
	 * Creates a writer that has not started.
	 * @param suppressed counts refusals that got no line
	 * @param missing counts refusals that got no entry
	 */
	RefusalWriter(Handoff<QueuedRefusal> queue, KeyCaps keys, RefusalHistory history, CallerNames names,
			String instance, LongAdder suppressed, LongAdder missing, InstantSource clock, LongSupplier nanos) {
		this.queue = queue;
		this.keys = keys;
		this.history = history;
		this.names = names;
		this.instance = instance;
		this.suppressed = suppressed;
		this.missing = missing;
		this.clock = clock;
		this.nanos = nanos;
		this.suppressedLogged = nanos.getAsLong();
	}

	void start() {
		this.loop.start(PAUSE);
	}

	void close() {
		this.loop.end(TIMEOUT.multipliedBy(2));
	}

	private Duration turn() {
		write();
		return PAUSE;
	}

	private void writeRest() {
		write();
		logSuppressed();
		Futures.await(this.written, TIMEOUT);
	}

	/** One turn. If the log or the history throws, only that refusal is lost. */
	void write() {
		for (QueuedRefusal queued : this.queue.take()) {
			try {
				write(queued);
			}
			catch (RuntimeException ex) {
				lost(queued.entry() ? 1 : 0, ex.getClass().getName());
			}
		}
		try {
			long now = this.nanos.getAsLong();
			this.keys.turn(now).forEach((repeats) -> enqueue(refusal(repeats.example(), repeats)));
			if (now - this.suppressedLogged >= SECOND) {
				this.suppressedLogged = now;
				logSuppressed();
			}
			flush();
		}
		catch (RuntimeException ex) {
			lost(0, ex.getClass().getName());
		}
	}

	private void write(QueuedRefusal queued) {
		Refusal refusal = refusal(queued, null);
		if (queued.entry()) {
			enqueue(refusal);
		}
		if (queued.line()) {
			log(queued.refused() ? "refused" : "allowed", refusal.describe());
		}
	}

	private Refusal refusal(QueuedRefusal queued, KeyCaps.@Nullable Repeats repeats) {
		return queued.refusal(this.names, this.instance, repeats, this.clock.instant());
	}

	/** Logs how many refusals got no line, if any. */
	private void logSuppressed() {
		long count = this.suppressed.sumThenReset();
		if (count > 0) {
			log("suppressed",
					new JsonObject().with("time", this.clock.instant().truncatedTo(ChronoUnit.MILLIS).toString())
						.with("suppressed", count));
		}
	}

	private static void log(String event, JsonObject fields) {
		log.info("{}", Json.write(new JsonObject().with("event", event).withAll(fields)));
	}

	private void enqueue(Refusal refusal) {
		if (this.waiting.size() < MAX_WAITING) {
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
			.orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
			.whenComplete((done, failure) -> {
				if (failure != null) {
					lost(batch.stream().mapToLong((refusal) -> Math.max(1, refusal.repeated())).sum(), text(failure));
				}
				else {
					this.failures.worked(this.missing.sum());
				}
			})
			.exceptionally((failure) -> null);
	}

	private static String text(Throwable failure) {
		Throwable cause = Futures.cause(failure);
		return (cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getSimpleName();
	}

	/** Errors of the log or of pseudonyms may name a caller: then only their class. */
	private void lost(long count, String why) {
		this.missing.add(count);
		this.failures.failed(why);
	}

}
