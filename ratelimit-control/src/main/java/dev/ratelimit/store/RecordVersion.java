package dev.ratelimit.store;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * One version of a record. It never changes; an edit makes the next one, and so does a
 * deletion, so that numbers never go back.
 *
 * @param key which record
 * @param version counts from 1 for each record
 * @param revision counts from 1 over all records of the store, in the order in which they
 * were written
 * @param body JSON, {@code null} if the record was deleted with this version
 * @param actor who wrote it
 * @param time when
 * @param reason why
 */
public record RecordVersion(RecordKey key, long version, long revision, @Nullable String body, String actor,
		Instant time, String reason) {

	public boolean deleted() {
		return this.body == null;
	}

}
