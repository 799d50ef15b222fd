package dev.ratelimit.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Sets a store right after it has lost something. Until all is there it has an id that
 * nobody knows, so that no instance takes half of it for the whole; then one that names
 * those it takes the place of.
 */
final class Recovery {

	/**
	 * Instances that have seen a little more than this one must not see numbers twice.
	 */
	private static final long MARGIN = 1_000;

	private final StoreReader store;

	private final String storeId;

	private final long revision;

	/**
	 * A recovery by an instance.
	 * @param storeId of the store that it knows
	 * @param revision up to which it has seen that store
	 */
	Recovery(StoreReader store, String storeId, long revision) {
		this.store = store;
		this.storeId = storeId;
		this.revision = revision;
	}

	/** What the store is to have if it is to stay as it is. */
	static List<RecordVersion> accepted(Map<RecordKey, RecordVersion> theirs, Map<RecordKey, RecordVersion> mine) {
		List<RecordVersion> all = new ArrayList<>();
		theirs.forEach((key, version) -> all.add(after(mine.get(key), version)));
		mine.forEach((key, version) -> {
			if (!theirs.containsKey(key)) {
				all.add(deleted(version));
			}
		});
		return all;
	}

	/** The same version, but saying that there is nothing. */
	static RecordVersion deleted(RecordVersion version) {
		return new RecordVersion(version.key(), version.version(), version.revision(), null, version.actor(),
				version.time(), version.reason());
	}

	void write(Collection<RecordVersion> records, String actor, String reason) {
		String theirs = this.store.changesSince(0, 1).storeId();
		String meanwhile = StoreId.next();
		List<RecordVersion> all = List.copyOf(records);
		for (int i = 0; i < all.size(); i += PolicyStore.MAX_EDITS) {
			this.store.restore(meanwhile, this.revision + MARGIN,
					all.subList(i, Math.min(i + PolicyStore.MAX_EDITS, all.size())), actor, reason);
		}
		this.store.restore(StoreId.replacing(List.of(this.storeId, theirs, meanwhile)), this.revision + MARGIN,
				List.of(), actor, reason);
	}

	private static RecordVersion after(@Nullable RecordVersion known, RecordVersion version) {
		long number = (known != null) ? Math.max(known.version(), version.version()) : version.version();
		return new RecordVersion(version.key(), number, version.revision(), version.body(), version.actor(),
				version.time(), version.reason());
	}

}
