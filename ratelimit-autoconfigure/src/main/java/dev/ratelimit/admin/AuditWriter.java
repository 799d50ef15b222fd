package dev.ratelimit.admin;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;

import dev.ratelimit.background.FailureLog;
import dev.ratelimit.background.Futures;
import dev.ratelimit.background.Handoff;
import dev.ratelimit.background.Loop;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.PolicyStore;

/**
 * Writes entries to the trail of the store, one after the other in their order. An entry
 * that the store does not take is tried again, about once a second; the store recognizes
 * an entry that it has already. The number of waiting entries and the time that an entry
 * waits are bounded; an entry that is given up is only in the log, and is counted.
 */
final class AuditWriter implements AutoCloseable {

	/** Entries that may wait: about 1 MB. */
	static final int MAX_WAITING = 1_000;

	/** Time after which a failed entry is given up: a restart of a store takes less. */
	static final Duration MAX_WAIT = Duration.ofMinutes(10);

	private static final Logger logger = LoggerFactory.getLogger(AuditTrail.class);

	/** More than a store takes to fail. */
	private static final Duration WRITE_TIMEOUT = Duration.ofSeconds(10);

	private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

	private static final long RETRY_MILLIS = 500;

	/** Longer than a fleet takes to reload its configuration. */
	static final Duration CLAIM = Duration.ofMinutes(10);

	private final PolicyStore store;

	private final Duration maxWait;

	private final LongSupplier nanos;

	private final Handoff<QueuedEntry> arrived;

	/** Used by the writing thread only. */
	private final Deque<QueuedEntry> waiting = new ArrayDeque<>();

	private final AtomicInteger size = new AtomicInteger();

	private final int maxWaiting;

	private final AtomicLong lost = new AtomicLong();

	private volatile CompletableFuture<?> last = CompletableFuture.completedFuture(null);

	private final FailureLog failures = new FailureLog(logger,
			"The audit trail cannot be written ({}); its entries wait for up to 10 minutes, and the audit log has them",
			"The audit trail can be written again; {} entries of this instance are only in its log");

	private final Loop loop = new Loop("ratelimit-audit", this::turn, this::writeRest);

	AuditWriter(PolicyStore store, int maxWaiting, Duration maxWait, LongSupplier nanos) {
		this.store = store;
		this.maxWaiting = maxWaiting;
		this.maxWait = maxWait;
		this.nanos = nanos;
		this.arrived = new Handoff<>(maxWaiting);
	}

	void start() {
		this.loop.start();
	}

	/** Writes the rest, for at most 2 s. */
	@Override
	public void close() {
		this.loop.end(CLOSE_TIMEOUT);
	}

	/**
	 * Queues an entry; never waits.
	 * @param remove position of the newest entry to remove, {@code null} for none
	 * @param claim only the first instance that adds an entry with this name writes it,
	 * {@code null} for an entry of this instance alone
	 */
	void add(AuditRecord attempt, @Nullable AuditPosition remove, @Nullable String claim) {
		QueuedEntry entry = new QueuedEntry(attempt, remove, claim, this.nanos.getAsLong(), new CompletableFuture<>());
		if (this.size.incrementAndGet() > this.maxWaiting || !this.arrived.offer(entry)) {
			this.size.decrementAndGet();
			this.lost.incrementAndGet();
			return;
		}
		this.last = entry.written();
		this.loop.wake();
	}

	/** Entries that were given up. */
	long lost() {
		return this.lost.get();
	}

	/** Entries that are not in the trail yet. */
	int waiting() {
		return this.size.get();
	}

	/**
	 * Completes when the entries that were added before are in the trail, or after a
	 * second, or at once if the store does not take entries.
	 */
	CompletionStage<Void> written() {
		return this.failures.isFailing() ? CompletableFuture.completedStage(null)
				: this.last.copy().orTimeout(1, TimeUnit.SECONDS).handle((done, failure) -> null);
	}

	private Duration turn() {
		this.waiting.addAll(this.arrived.take());
		for (QueuedEntry next = this.waiting.peekFirst(); next != null; next = this.waiting.peekFirst()) {
			try {
				if (isClaimed(next)) {
					Futures.await(this.store.audit(next.attempt(), next.remove()), WRITE_TIMEOUT);
				}
				end(next);
				this.failures.worked(this.lost.get());
			}
			catch (RuntimeException ex) {
				failed(next, ex);
				return Duration.ofMillis(RETRY_MILLIS + ThreadLocalRandom.current().nextLong(RETRY_MILLIS));
			}
		}
		return Loop.UNTIL_WOKEN;
	}

	/** By its id, so that an entry that is tried again still has its claim. */
	private boolean isClaimed(QueuedEntry entry) {
		return entry.claim() == null
				|| Futures.await(this.store.lead(entry.claim(), entry.attempt().id(), CLAIM), WRITE_TIMEOUT)
					.isPresent();
	}

	private void failed(QueuedEntry entry, RuntimeException failure) {
		// The innermost cause is the one of the store itself.
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		String why = (cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getSimpleName();
		logger.debug("The audit trail cannot be written", failure);
		if (entry.remove() != null) {
			// The next removal includes it; other entries must not wait for a missing
			// right.
			logger.warn("Old entries of the audit trail were not removed ({}); the next try is in an hour", why);
			end(entry);
			return;
		}
		if (this.nanos.getAsLong() - entry.since() >= this.maxWait.toNanos()) {
			this.lost.incrementAndGet();
			end(entry);
		}
		this.failures.failed(why);
	}

	private void end(QueuedEntry entry) {
		this.waiting.removeFirst();
		this.size.decrementAndGet();
		entry.written().complete(null);
	}

	private void writeRest() {
		turn();
		this.waiting.addAll(this.arrived.take());
		if (!this.waiting.isEmpty()) {
			this.lost.addAndGet(this.waiting.size());
			logger.warn(
					"The store did not take all audit entries before the application ended: only the audit log has {}",
					this.waiting.size());
		}
	}

	/**
	 * An entry that is not in the trail.
	 *
	 * @param claim name under which the fleet writes it once, {@code null} for none
	 * @param since time of its arrival
	 * @param written completes when it no longer waits
	 */
	private record QueuedEntry(AuditRecord attempt, @Nullable AuditPosition remove, @Nullable String claim, long since,
			CompletableFuture<@Nullable Void> written) {
	}

}
