package dev.ratelimit.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;

import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditHead;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;

/**
 * A real store, for tests that look at or change what passes.
 */
abstract class ForwardingStore implements PolicyStore {

	private final PolicyStore store;

	ForwardingStore(PolicyStore store) {
		this.store = store;
	}

	@Override
	public CompletionStage<Changes> changesSince(long revision, int limit) {
		return this.store.changesSince(revision, limit);
	}

	@Override
	public CompletionStage<List<RecordVersion>> write(List<Edit> edits, Seen seen, String actor, String reason) {
		return this.store.write(edits, seen, actor, reason);
	}

	@Override
	public CompletionStage<Void> restore(String storeId, long revision, List<RecordVersion> records) {
		return this.store.restore(storeId, revision, records);
	}

	@Override
	public CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
		return this.store.history(key, limit);
	}

	@Override
	public CompletionStage<Void> audit(AuditRecord attempt, AuditPosition remove) {
		return this.store.audit(attempt, remove);
	}

	@Override
	public CompletionStage<List<AuditEntry>> audit(AuditPosition before, int limit) {
		return this.store.audit(before, limit);
	}

	@Override
	public CompletionStage<List<AuditEntry>> scanAudit(AuditPosition before) {
		return this.store.scanAudit(before);
	}

	@Override
	public CompletionStage<AuditHead> auditHead() {
		return this.store.auditHead();
	}

	@Override
	public CompletionStage<Optional<Instant>> lead(String task, String instance, Duration time) {
		return this.store.lead(task, instance, time);
	}

	@Override
	public CompletionStage<List<Long>> add(String name, List<Long> numbers) {
		return this.store.add(name, numbers);
	}

	@Override
	public AutoCloseable subscribe(LongConsumer listener) {
		return this.store.subscribe(listener);
	}

}
