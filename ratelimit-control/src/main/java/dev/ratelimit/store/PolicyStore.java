package dev.ratelimit.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Where records are kept durably, shared by the fleet.
 *
 * <p>
 * What a store keeps: a write is done as a whole or not at all, also when the store dies
 * in the middle of it; versions and revisions only go up; and whoever has read up to a
 * revision has seen every write up to it, because writes get their revisions in the order
 * in which they become visible.
 *
 * <p>
 * No method throws or blocks; a store that is away fails the stage.
 */
public interface PolicyStore {

	/** How many records one write may have, so that none holds a store for long. */
	int MAX_EDITS = 50;

	/**
	 * What was written after a revision.
	 * @param revision what the caller has seen, 0 for nothing
	 * @param limit how many versions at most
	 */
	CompletionStage<Changes> changesSince(long revision, int limit);

	/**
	 * Writes all of these or none. Fails with a {@link ConflictException} if one of them
	 * expects another version than there is, and with an {@link IllegalArgumentException}
	 * if there are more than {@link #MAX_EDITS} or two of one record. A deleted record's
	 * newest version is the one that deleted it.
	 * @return the new versions, in the order of the edits
	 */
	CompletionStage<List<RecordVersion>> write(List<Edit> edits, String actor, String reason);

	/**
	 * Gives a store that has lost something what it is to have, as new versions. Their
	 * numbers go on from the store's or from what is given here, whichever is higher. All
	 * of it is done or nothing.
	 * @param storeId the store's from now on
	 * @param revision the store's is not below this one from now on
	 * @param records what the records are to say, at most {@link #MAX_EDITS}
	 */
	CompletionStage<Void> restore(String storeId, long revision, List<RecordVersion> records, String actor,
			String reason);

	/**
	 * Versions of a record, the newest first.
	 */
	CompletionStage<List<RecordVersion>> history(RecordKey key, int limit);

	/**
	 * Adds to the audit trail, which nothing is ever taken from.
	 */
	CompletionStage<Void> audit(AuditRecord entry);

	/**
	 * The trail, the newest first.
	 * @param before only what comes after it here, being older; {@code null} for no bound
	 */
	CompletionStage<List<AuditRecord>> audit(@Nullable AuditPosition before, int limit);

	/**
	 * Makes an instance the one that does a task, until the time is over or for as long
	 * as it asks again in time.
	 * @return whether it is the one
	 */
	CompletionStage<Boolean> lead(String task, String instance, Duration time);

	/**
	 * Tells of writes, by this instance or others, as soon as they are heard of. Some may
	 * never be: who needs all of them asks now and then.
	 * @param listener is given the revision, or 0 when the subscription was made (anew)
	 * and writes may have been missed; it must not block
	 */
	AutoCloseable subscribe(LongConsumer listener);

}
