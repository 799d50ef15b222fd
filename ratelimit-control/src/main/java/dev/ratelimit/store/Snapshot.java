package dev.ratelimit.store;

import java.util.List;

/**
 * All that an instance needs to go on without the store.
 *
 * @param storeId of the store that was read last
 * @param revision everything up to it is in the records
 * @param instances how many the fleet had, 0 if that is not known
 * @param records the newest versions, deletions included
 */
public record Snapshot(String storeId, long revision, int instances, List<RecordVersion> records) {

	/** What an instance knows that has never seen a store. */
	public static final Snapshot NONE = new Snapshot("", 0, 0, List.of());

	public Snapshot {
		records = List.copyOf(records);
	}

}
