package dev.ratelimit.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.store.RecordKey.Kind;

/**
 * Writes records to a store that has lost data. Until all are written the store has a
 * temporary id, so that no instance takes a part for the whole; then an id that names the
 * ids it replaces.
 */
final class Recovery {

	/** Other instances may have seen more: they must not see a revision twice. */
	private static final long MARGIN = 1_000;

	private final StoreReader store;

	private final String storeId;

	private final long revision;

	private final Forgotten forgotten;

	/** A recovery by an instance that has read the store of this id and revision. */
	Recovery(StoreReader store, String storeId, long revision, Forgotten forgotten) {
		this.store = store;
		this.storeId = storeId;
		this.revision = revision;
		this.forgotten = forgotten;
	}

	/**
	 * The records of the store, and deletions of all others. Numbers of versions go on
	 * from those of this instance, also for records that it has forgotten.
	 * @param confirmed how many records may be removed
	 */
	static List<RecordVersion> accepted(Map<RecordKey, RecordVersion> theirs, Map<RecordKey, RecordVersion> mine,
			Forgotten forgotten, @Nullable Long confirmed, String actor, String reason) {
		List<RecordVersion> all = new ArrayList<>();
		theirs.forEach((key, version) -> {
			RecordVersion known = mine.get(key);
			long last = (known != null) ? known.version() : forgotten.version();
			long number = (last >= version.version()) ? last + 1 : version.version();
			all.add(new RecordVersion(key, number, 0, version.body(), version.actor(), version.time(),
					version.reason()));
		});
		Map<Kind, Long> removed = new EnumMap<>(Kind.class);
		mine.forEach((key, version) -> {
			if (!theirs.containsKey(key) && !version.deleted()) {
				removed.merge(key.kind(), 1L, Long::sum);
				all.add(new RecordVersion(key, version.version() + 1, 0, null, actor, Instant.now(), reason));
			}
			else if (!theirs.containsKey(key)) {
				all.add(version);
			}
		});
		ConfirmationException question = new ConfirmationException(removed);
		if (question.number() > 0 && (confirmed == null || confirmed != question.number())) {
			throw question;
		}
		return all;
	}

	void write(Collection<RecordVersion> records) {
		String theirs = this.store.changesSince(0, 1).storeId();
		String meanwhile = StoreId.next();
		List<RecordVersion> all = List.copyOf(records);
		for (int i = 0; i < all.size(); i += PolicyStore.MAX_EDITS) {
			this.store.restore(meanwhile, this.revision + MARGIN, this.forgotten.version(),
					all.subList(i, Math.min(i + PolicyStore.MAX_EDITS, all.size())));
		}
		this.store.restore(StoreId.replacing(List.of(this.storeId, theirs, meanwhile)), this.revision + MARGIN,
				this.forgotten.version(), List.of());
	}

}
