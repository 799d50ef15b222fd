package dev.ratelimit.store;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * The records of an instance. One thread writes, others read.
 */
final class RecordCopy {

	private final Map<RecordKey, RecordVersion> records = new ConcurrentHashMap<>();

	/** Also from before a recovery: an older backup may come back later. */
	private volatile Forgotten forgotten;

	/**
	 * The revision up to which the store had dropped deletions when it was last asked.
	 */
	private long dropped;

	RecordCopy(Snapshot start) {
		this.forgotten = start.forgotten();
		put(start.records());
	}

	/** The newest version, which may be a deletion. */
	@Nullable RecordVersion get(RecordKey key) {
		return this.records.get(key);
	}

	/** In the order of revisions: two records can be about the same caller. */
	List<RecordVersion> all() {
		return this.records.values().stream().sorted(Comparator.comparingLong(RecordVersion::revision)).toList();
	}

	Forgotten forgotten() {
		return this.forgotten;
	}

	void put(List<RecordVersion> versions) {
		versions.forEach((version) -> this.records.put(version.key(), version));
	}

	/**
	 * Drops the deletions that the store has dropped, all of which were read. A store
	 * that was restored counts anew, below what this copy has noted.
	 */
	void forget(Forgotten forgotten) {
		if (forgotten.revision() != this.dropped) {
			this.dropped = forgotten.revision();
			this.records.values()
				.removeIf((version) -> version.deleted() && version.revision() <= forgotten.revision());
		}
		note(forgotten.revision(), forgotten.version());
	}

	/**
	 * Takes everything that the store has, and drops the rest.
	 * @return what has changed: dropped records as deletions, then the others by revision
	 */
	List<RecordVersion> replace(StoreReader.Contents all) {
		List<RecordVersion> changed = new ArrayList<>();
		note(all.forgotten().revision(), all.forgotten().version());
		for (RecordVersion version : all()) {
			if (!all.records().containsKey(version.key())) {
				this.records.remove(version.key());
				note(0, version.version());
				if (!version.deleted()) {
					changed.add(new RecordVersion(version.key(), version.version(), version.revision(), null,
							version.actor(), version.time(), version.reason()));
				}
			}
		}
		all.records().forEach((key, version) -> {
			if (!version.equals(this.records.put(key, version))) {
				changed.add(version);
			}
		});
		return changed;
	}

	private void note(long revision, long version) {
		this.forgotten = new Forgotten(Math.max(revision, this.forgotten.revision()),
				Math.max(version, this.forgotten.version()));
	}

}
