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
 */
public record Changes(String storeId, long revision, List<RecordVersion> versions) {
}
