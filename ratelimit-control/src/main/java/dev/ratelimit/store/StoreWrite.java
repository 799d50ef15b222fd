package dev.ratelimit.store;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * One call that writes to a store: edits of a writer, or records that a store has lost.
 *
 * @param storeId new id of the store, empty to keep the one it has
 * @param revision the store's revision continues from here if it is lower
 * @param version versions of new records begin above it
 * @param seen what the writer has read; checked if the store keeps its id
 */
public record StoreWrite(String storeId, long revision, long version, Seen seen, List<Entry> entries) {

	/**
	 * Checks that a store can do it in one call.
	 * @throws IllegalArgumentException if there are more than
	 * {@link PolicyStore#MAX_EDITS} entries or two of one record
	 */
	public StoreWrite {
		boolean once = entries.stream().map(Entry::key).distinct().count() == entries.size();
		if (entries.size() > PolicyStore.MAX_EDITS || !once) {
			throw new IllegalArgumentException("a write has at most " + PolicyStore.MAX_EDITS
					+ " records, each once, but this one has " + entries.size());
		}
	}

	public static StoreWrite of(List<Edit> edits, Seen seen, String actor, String reason) {
		return new StoreWrite("", 0, 0, seen,
				edits.stream()
					.map((edit) -> new Entry(edit.key(), edit.body(), edit.expect(), 0, actor, null, reason))
					.toList());
	}

	public static StoreWrite restoring(String storeId, long revision, long version, List<RecordVersion> records) {
		return new StoreWrite(storeId, revision, version, Seen.NOTHING,
				records.stream()
					.map((record) -> new Entry(record.key(), record.body(), null, record.version(), record.actor(),
							record.time(), record.reason()))
					.toList());
	}

	/**
	 * One record.
	 *
	 * @param expect the version that the record must have, {@code null} for any
	 * @param version 0 for the next one; a higher one is taken as it is
	 * @param time {@code null} for the store's time of the write
	 */
	public record Entry(RecordKey key, @Nullable String body, @Nullable Long expect, long version, String actor,
			@Nullable Instant time, String reason) {

		/**
		 * The version that follows the newest one. A restored record that the store still
		 * has keeps its version.
		 * @param forgotten highest version that the store has forgotten
		 */
		public RecordVersion after(@Nullable RecordVersion newest, long forgotten, long revision, Instant now) {
			long last = (newest != null) ? newest.version() : 0;
			if (this.expect != null && this.expect != last) {
				throw new ConflictException(this.expect, last);
			}
			RecordVersion same = as(this.version, (newest != null) ? newest.revision() : 0, now);
			long next = (newest != null) ? last + 1 : forgotten + 1;
			return as((this.version > last || same.equals(newest)) ? this.version : next, revision, now);
		}

		/** This entry as a version. */
		public RecordVersion as(long version, long revision, Instant now) {
			return new RecordVersion(this.key, version, revision, this.body, this.actor,
					(this.time != null) ? this.time : now, this.reason);
		}

	}

}
