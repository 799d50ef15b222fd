package dev.ratelimit.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Verifies an audit trail. It reads the trail in pages and ends in time.
 */
public final class AuditScan {

	private final PolicyStore store;

	private final LongSupplier nanos;

	/**
	 * Creates a scan.
	 * @param nanos a monotonic clock
	 */
	public AuditScan(PolicyStore store, LongSupplier nanos) {
		this.store = store;
		this.nanos = nanos;
	}

	/**
	 * Checks the chain. A broken one is checked twice, because entries may have been
	 * removed meanwhile.
	 * @param atMost time after which no further page is read
	 */
	public CompletionStage<AuditReport> verify(Duration atMost) {
		long start = this.nanos.getAsLong();
		BooleanSupplier late = () -> this.nanos.getAsLong() - start >= atMost.toNanos();
		return verify(late).thenCompose((first) -> (first.broken() == null) ? CompletableFuture.completedStage(first)
				: verify(late).thenApply((second) -> second.complete() ? second : first));
	}

	private CompletionStage<AuditReport> verify(BooleanSupplier late) {
		return this.store.auditHead().thenCompose((head) -> {
			AuditCheck check = new AuditCheck(head);
			return read(this.store, null, check::add, late)
				.thenCompose((complete) -> this.store.auditHead().thenApply((last) -> check.end(complete, last)));
		});
	}

	/**
	 * Reads entries, the newest first.
	 * @param before only older entries, {@code null} for no bound
	 * @param consumer returns whether it wants older entries
	 * @param late whether to stop before the next page
	 * @return whether it was not late
	 */
	static CompletionStage<Boolean> read(PolicyStore store, @Nullable AuditPosition before,
			Predicate<AuditEntry> consumer, BooleanSupplier late) {
		if (late.getAsBoolean()) {
			return CompletableFuture.completedStage(false);
		}
		return store.scanAudit(before).thenComposeAsync((page) -> {
			for (AuditEntry entry : page) {
				if (!consumer.test(entry)) {
					return CompletableFuture.completedStage(true);
				}
			}
			return page.isEmpty() ? CompletableFuture.completedStage(true)
					: read(store, page.get(page.size() - 1).position(), consumer, late);
		});
	}

}
