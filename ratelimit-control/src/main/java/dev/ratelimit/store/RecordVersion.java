package dev.ratelimit.store;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * One immutable version of a record. Every edit makes a new version, and so does a
 * deletion, so that numbers never go back.
 *
 * @param version counts for each record, from 1 or from above the highest version of the
 * {@linkplain Forgotten forgotten} ones
 * @param revision counts from 1 over all records of the store, in the order of writes
 * @param body JSON, {@code null} if this version deleted the record
 */
public record RecordVersion(RecordKey key, long version, long revision, @Nullable String body, String actor,
		Instant time, String reason) {

	public boolean deleted() {
		return this.body == null;
	}

}
