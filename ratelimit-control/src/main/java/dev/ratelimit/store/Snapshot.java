package dev.ratelimit.store;

import java.util.List;

/**
 * A copy of the store with which an instance can start.
 *
 * @param revision all writes up to it are in the records
 * @param instances size of the fleet, 0 if unknown
 * @param records the newest versions, including deletions
 * @param forgotten deletions that are not in the records
 */
public record Snapshot(String storeId, long revision, int instances, List<RecordVersion> records, Forgotten forgotten) {

	public static final Snapshot NONE = new Snapshot("", 0, 0, List.of(), Forgotten.NONE);

	public Snapshot {
		records = List.copyOf(records);
	}

}
