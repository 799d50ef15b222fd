/**
 * Records with versions, the stores that keep them, and an instance's copy of them.
 * <ul>
 * <li>the interface: {@link PolicyStore}: each {@link Edit} of a {@link RecordKey}
 * becomes a {@link RecordVersion}; {@link StoreWrite} and {@link Changes} are what a
 * store takes and gives; {@link ConflictException}</li>
 * <li>the copy: {@link Replica} of {@link RecordCopy}, read by a {@link StoreReader},
 * with its {@link ReplicaState} and {@link ReplicaListener}</li>
 * <li>deleted records: {@link DeletionTrimmer} removes what is too old; a store says what
 * it has {@link Forgotten}</li>
 * <li>lost data: {@link StoreId} and {@link Seen} show it; {@link Recovery} and
 * {@link PendingDecisions}; {@link StoreLostException}, {@link StoreIncidentException}
 * and {@link ConfirmationException}</li>
 * <li>a restart without the store: {@link Snapshot} in a {@link SnapshotFile}, written by
 * {@link SnapshotWriter} under a {@link SnapshotLock}</li>
 * <li>the audit trail: {@link AuditRecord} becomes an {@link AuditEntry} at an
 * {@link AuditPosition}, joined by an {@link AuditLink} to the {@link AuditHead};
 * {@link AuditScan} checks it by {@link AuditCheck} and makes an {@link AuditReport};
 * {@link AuditCuts} finds what is too old</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.store;

import org.jspecify.annotations.NullMarked;
