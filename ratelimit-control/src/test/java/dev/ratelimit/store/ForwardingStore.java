package dev.ratelimit.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;

/**
 * A real store, for tests that look at or change what passes.
 */
public abstract class ForwardingStore implements PolicyStore {

	private final PolicyStore store;

	protected ForwardingStore(PolicyStore store) {
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
	public CompletionStage<Void> restore(String storeId, long revision, long version, List<RecordVersion> records) {
		return this.store.restore(storeId, revision, version, records);
	}

	@Override
	public CompletionStage<Void> forget(List<RecordVersion> deletions, Seen seen) {
		return this.store.forget(deletions, seen);
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
