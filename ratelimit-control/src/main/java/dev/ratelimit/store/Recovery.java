package dev.ratelimit.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.RecordKey.Kind;

/**
 * Writes records to a store that has lost data. Until all are written the store has a
 * temporary id, so that no instance takes a part for the whole; then an id that names the
 * ids it replaces.
 *
 * @param seen what this instance has read of the store
 * @param confirmed how many records may be deleted, {@code null} for none
 */
record Recovery(StoreReader store, Seen seen, RecordCopy copy, @Nullable Long confirmed, String actor, String reason) {

	/** Other instances may have seen more: they must not see a revision twice. */
	private static final long MARGIN = 1_000;

	/** Writes the records of this instance. Others stay, unless they were deleted. */
	void reseed() {
		// Only in a store with this id does a revision say what was read.
		StoreReader.Contents theirs = isForgetful() ? this.store.all(Replica.PAGE) : StoreReader.Contents.NONE;
		boolean backup = theirs.storeId().equals(this.seen.storeId())
				|| StoreId.replaces(this.seen.storeId(), theirs.storeId());
		List<RecordVersion> deleted = theirs.records()
			.values()
			.stream()
			.filter((version) -> backup && isForgotten(version))
			.toList();
		requireConfirmed("Reseeding", deleted);
		// While the store has its old id: a second call finds those that remain.
		for (int i = 0; i < deleted.size(); i += PolicyStore.MAX_EDITS) {
			this.store.delete(deleted.subList(i, Math.min(i + PolicyStore.MAX_EDITS, deleted.size())),
					new Seen(theirs.storeId(), theirs.revision()), this.actor, this.reason);
		}
		write(this.copy.all());
	}

	private boolean isForgetful() {
		return this.copy.forgotten().revision() > 0;
	}

	/**
	 * The copy lacks a record of a revision that it has read: the deletion was forgotten.
	 */
	private boolean isForgotten(RecordVersion version) {
		return !version.deleted() && version.revision() <= this.copy.forgotten().revision()
				&& this.copy.get(version.key()) == null;
	}

	/**
	 * Writes the records of the store, and before them deletions of all others. Numbers
	 * of versions go on from those of this instance, also for records that it has
	 * forgotten.
	 */
	void accept() {
		Map<RecordKey, RecordVersion> theirs = this.store.all(Replica.PAGE).records();
		List<RecordVersion> all = new ArrayList<>();
		List<RecordVersion> deleted = new ArrayList<>();
		for (RecordVersion version : this.copy.all()) {
			if (theirs.containsKey(version.key())) {
				continue;
			}
			if (version.deleted()) {
				all.add(version);
			}
			else {
				deleted.add(version);
				all.add(new RecordVersion(version.key(), version.version() + 1, 0, null, this.actor, Instant.now(),
						this.reason));
			}
		}
		requireConfirmed("Accepting what the store has", deleted);
		theirs.forEach((key, version) -> {
			RecordVersion known = this.copy.get(key);
			long last = (known != null) ? known.version() : this.copy.forgotten().version();
			long number = (last >= version.version()) ? last + 1 : version.version();
			all.add(new RecordVersion(key, number, 0, version.body(), version.actor(), version.time(),
					version.reason()));
		});
		write(all);
	}

	private void requireConfirmed(String decision, List<RecordVersion> deleted) {
		if (deleted.size() != ((this.confirmed != null) ? this.confirmed : 0)) {
			Map<Kind, Long> kinds = new EnumMap<>(Kind.class);
			deleted.forEach((version) -> kinds.merge(version.key().kind(), 1L, Long::sum));
			throw new ConfirmationException(decision, kinds);
		}
	}

	/** The order becomes that of the revisions, and so of {@link Forgotten}. */
	private void write(List<RecordVersion> records) {
		String theirs = this.store.changesSince(0, 1).storeId();
		String meanwhile = StoreId.next();
		for (int i = 0; i < records.size(); i += PolicyStore.MAX_EDITS) {
			restore(meanwhile, records.subList(i, Math.min(i + PolicyStore.MAX_EDITS, records.size())));
		}
		restore(StoreId.replacing(List.of(this.seen.storeId(), theirs, meanwhile)), List.of());
	}

	private void restore(String storeId, List<RecordVersion> records) {
		this.store.restore(storeId, this.seen.revision() + MARGIN, this.copy.forgotten().version(), records);
	}

}
