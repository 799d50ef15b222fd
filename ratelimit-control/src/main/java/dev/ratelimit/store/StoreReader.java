package dev.ratelimit.store;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Asks the store and waits for the answer, on the replica's own thread.
 */
final class StoreReader {

	private static final long PATIENCE_MILLIS = 2_000;

	private final PolicyStore store;

	private final LongSupplier nanos;

	private volatile @Nullable Instant lastContact;

	private volatile long contactNanos;

	/**
	 * Reads a store.
	 * @param nanos a monotonic clock
	 */
	StoreReader(PolicyStore store, LongSupplier nanos) {
		this.store = store;
		this.nanos = nanos;
		this.contactNanos = nanos.getAsLong();
	}

	Changes changesSince(long revision, int limit) {
		Changes changes = await(this.store.changesSince(revision, limit));
		this.contactNanos = this.nanos.getAsLong();
		this.lastContact = Instant.now();
		return changes;
	}

	/** All there is, read in pages; what is written meanwhile comes with the last. */
	Contents all(int page) {
		Map<RecordKey, RecordVersion> read = new HashMap<>();
		long last = 0;
		Changes changes;
		do {
			changes = changesSince(last, page);
			for (RecordVersion version : changes.versions()) {
				read.put(version.key(), version);
				last = version.revision();
			}
		}
		while (!changes.versions().isEmpty() && last < changes.revision());
		return new Contents(changes.storeId(), changes.revision(), read);
	}

	void restore(String storeId, long revision, List<RecordVersion> records, String actor, String reason) {
		await(this.store.restore(storeId, revision, records, actor, reason));
	}

	@Nullable Instant lastContact() {
		return this.lastContact;
	}

	/** Since the last contact, or since the start if there was none. */
	long silentNanos() {
		return this.nanos.getAsLong() - this.contactNanos;
	}

	private static <T> T await(CompletionStage<T> stage) {
		try {
			return stage.toCompletableFuture().get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException ex) {
			throw new CompletionException(ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new CompletionException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new CompletionException(ex);
		}
	}

	/**
	 * What a store has.
	 */
	record Contents(String storeId, long revision, Map<RecordKey, RecordVersion> records) {
	}

}
