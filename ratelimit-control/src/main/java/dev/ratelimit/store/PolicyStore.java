package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Keeps records durably for the fleet.
 *
 * <p>
 * A write happens as a whole or not at all, even if the store dies during it. Versions
 * and revisions only increase, and revisions follow the order in which writes become
 * visible: a reader that has read up to a revision has seen every write up to it.
 *
 * <p>
 * No method throws or blocks; the stage fails if the store is away.
 */
public interface PolicyStore {

	/** Versions of a record that a store keeps; a write removes older ones. */
	int KEPT_VERSIONS = 100;

	/**
	 * Deleted records that a store keeps; the oldest above this number are forgotten
	 * after a day, and those above ten times this number after 10 minutes.
	 */
	int KEPT_DELETIONS = 10_000;

	/** Longer than an instance is away and then starts with its snapshot. */
	Duration KEPT_DELETIONS_FOR = Duration.ofDays(30);

	/** Records per write, so that none occupies a store for long. */
	int MAX_EDITS = 50;

	/**
	 * Records that were written after a revision.
	 * @param limit versions at most
	 */
	CompletionStage<Changes> changesSince(long revision, int limit);

	/**
	 * Writes all edits or none. Fails with a {@link ConflictException} if a record does
	 * not have the expected version, with a {@link StoreLostException} if the store has
	 * lost what the writer has seen, and with an {@link IllegalArgumentException} if
	 * there are more than {@link #MAX_EDITS} edits or two of one record. Deleting a
	 * record makes a new version too.
	 * @return the new versions, in the order of the edits
	 */
	CompletionStage<List<RecordVersion>> write(List<Edit> edits, Seen seen, String actor, String reason);

	/**
	 * Writes records to a store that has lost data, all or none. They keep version,
	 * actor, time and reason, unless the store has another version with this number or a
	 * higher one: then they become the next version.
	 * @param storeId new id of the store
	 * @param revision the store's revision continues from here if it is lower
	 * @param version versions of new records begin above it, and above what the store has
	 * forgotten itself
	 * @param records at most {@link #MAX_EDITS}
	 */
	CompletionStage<Void> restore(String storeId, long revision, long version, List<RecordVersion> records);

	/**
	 * Removes deleted records with their history. Records that have changed since stay.
	 * Fails with a {@link StoreLostException} if the store has lost what the caller has
	 * seen, and with an {@link IllegalArgumentException} if there are more than
	 * {@link #MAX_EDITS}.
	 * @param deletions the oldest ones that the store has, by revision
	 * @see Forgotten
	 */
	CompletionStage<Void> forget(List<RecordVersion> deletions, Seen seen);

	/**
	 * Versions of a record, the newest first.
	 */
	CompletionStage<List<RecordVersion>> history(RecordKey key, int limit);

	/**
	 * Adds an attempt to the end of the audit trail and removes old entries. A store may
	 * leave the newest of these for the next removal. After a failure, this instance can
	 * send the attempt again: the trail has it once, even if only the answer was lost.
	 * @param remove position of the newest entry to remove, {@code null} for none
	 */
	CompletionStage<Void> audit(AuditRecord attempt, @Nullable AuditPosition remove);

	/**
	 * The audit trail, the newest first.
	 * @param before only older entries, {@code null} for no bound
	 */
	CompletionStage<List<AuditEntry>> audit(@Nullable AuditPosition before, int limit);

	/**
	 * A page of the audit trail as {@link #audit(AuditPosition, int)} has it, for readers
	 * of many pages: other calls do not wait for them.
	 * @return empty after the oldest entry
	 */
	CompletionStage<List<AuditEntry>> scanAudit(@Nullable AuditPosition before);

	/**
	 * The newest entry of the chain of the audit trail.
	 */
	CompletionStage<AuditHead> auditHead();

	/**
	 * Makes an instance the leader of a task for a time, unless another one leads. A
	 * leader stays so if it asks again in time, and gives the task up by asking for no
	 * time.
	 * @return the time by the clock that gives versions their time, empty if another
	 * instance leads
	 */
	CompletionStage<Optional<Instant>> lead(String task, String instance, Duration time);

	/**
	 * Adds what this instance has counted to the sums of the fleet, which are forgotten
	 * after a day without additions. After a failure it is open whether the numbers were
	 * added.
	 * @param numbers always as many under one name
	 * @return the sums, in the same order
	 */
	CompletionStage<List<Long>> add(String name, List<Long> numbers);

	/**
	 * Reports writes of all instances. Notifications can be lost: a listener that needs
	 * all writes polls too.
	 * @param listener gets the revision, or 0 after a (re)connection, when writes may
	 * have been missed; must not block
	 */
	AutoCloseable subscribe(LongConsumer listener);

}
