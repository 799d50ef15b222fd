package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.background.Futures;

/**
 * Calls the store and waits, on the replica's thread.
 */
final class StoreReader {

	private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(2);

	private final PolicyStore store;

	private final LongSupplier nanos;

	private volatile @Nullable Instant lastContact;

	private volatile long contactNanos;

	private volatile long progressNanos;

	/** Highest revision that was received. */
	private volatile long reached;

	StoreReader(PolicyStore store, LongSupplier nanos) {
		this.store = store;
		this.nanos = nanos;
		this.contactNanos = nanos.getAsLong();
		this.progressNanos = this.contactNanos;
	}

	Changes changesSince(long revision, int limit) {
		Changes changes = Futures.await(this.store.changesSince(revision, limit), ANSWER_TIMEOUT);
		this.contactNanos = this.nanos.getAsLong();
		progressed(changes);
		this.lastContact = Instant.now();
		return changes;
	}

	/** The same page again is none: a read that always fails at one place must end. */
	private void progressed(Changes page) {
		List<RecordVersion> versions = page.versions();
		long last = versions.isEmpty() ? page.revision() : versions.get(versions.size() - 1).revision();
		if (this.lastContact == null || last > this.reached) {
			this.reached = last;
			this.progressNanos = this.contactNanos;
		}
	}

	/**
	 * All records, in pages; the last page has what was written meanwhile. Begins again
	 * if the store forgets the deletion of a record that may be read already.
	 */
	Contents all(int page) {
		Map<RecordKey, RecordVersion> read = new LinkedHashMap<>();
		long last = 0;
		long begun = 0;
		Changes changes;
		do {
			changes = changesSince(last, page);
			if (last == 0) {
				begun = changes.revision();
			}
			else if (changes.forgotten().revision() > begun) {
				return all(page);
			}
			for (RecordVersion version : changes.versions()) {
				read.remove(version.key());
				read.put(version.key(), version);
				last = version.revision();
			}
		}
		while (!changes.versions().isEmpty() && last < changes.revision());
		return new Contents(changes.storeId(), changes.revision(), read, changes.forgotten());
	}

	/**
	 * Deletes records, unless they or the store have changed since.
	 * @param records at most {@link PolicyStore#MAX_EDITS}
	 */
	void delete(List<RecordVersion> records, Seen seen, String actor, String reason) {
		List<Edit> edits = records.stream().map((record) -> new Edit(record.key(), null, record.version())).toList();
		Futures.await(this.store.write(edits, seen, actor, reason), ANSWER_TIMEOUT);
	}

	void restore(String storeId, long revision, long version, List<RecordVersion> records) {
		Futures.await(this.store.restore(storeId, revision, version, records), ANSWER_TIMEOUT);
	}

	@Nullable Instant lastContact() {
		return this.lastContact;
	}

	/** Since the last answer, or since the start if there was none. */
	long silentNanos() {
		return this.nanos.getAsLong() - this.contactNanos;
	}

	/** Since the last new page, or since the start if there was none. */
	long stalledNanos() {
		return this.nanos.getAsLong() - this.progressNanos;
	}

	long reached() {
		return this.reached;
	}

	/**
	 * What a store has.
	 *
	 * @param records in the order of revisions
	 */
	record Contents(String storeId, long revision, Map<RecordKey, RecordVersion> records, Forgotten forgotten) {

		static final Contents NONE = new Contents("", 0, Map.of(), Forgotten.NONE);

	}

}
