package dev.ratelimit.store;

import java.util.List;

/**
 * What has changed in a store.
 *
 * @param storeId made at random with the first write, empty before it; another one, or
 * none where there was one, means that the store has lost what it had
 * @param revision of the last write to the store, 0 if there was none
 * @param versions the newest version of each record that was written after the revision
 * that was asked for, by revision; not all of them if the last one's is below the store's
 */
public record Changes(String storeId, long revision, List<RecordVersion> versions) {
}
