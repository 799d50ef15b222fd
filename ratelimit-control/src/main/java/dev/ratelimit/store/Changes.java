package dev.ratelimit.store;

import java.util.List;

/**
 * A page of changes.
 *
 * @param storeId random, made with the first write, empty before; if it changes or goes,
 * the store has lost its data
 * @param revision of the last write to the store, 0 if there was none
 * @param versions the newest version of each record, by revision; if the last revision is
 * below the store's, there are more
 * @param forgotten deleted records that are not in any page
 */
public record Changes(String storeId, long revision, List<RecordVersion> versions, Forgotten forgotten) {

	/** A page of a store that has forgotten nothing. */
	public Changes(String storeId, long revision, List<RecordVersion> versions) {
		this(storeId, revision, versions, Forgotten.NONE);
	}

}
