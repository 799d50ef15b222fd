package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;

import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

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
	public CompletionStage<List<RecordVersion>> write(List<Edit> edits, String actor, String reason) {
		return this.store.write(edits, actor, reason);
	}

	@Override
	public CompletionStage<Void> restore(String storeId, long revision, List<RecordVersion> records, String actor,
			String reason) {
		return this.store.restore(storeId, revision, records, actor, reason);
	}

	@Override
	public CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
		return this.store.history(key, limit);
	}

	@Override
	public CompletionStage<Void> audit(AuditRecord entry) {
		return this.store.audit(entry);
	}

	@Override
	public CompletionStage<List<AuditRecord>> audit(AuditPosition before, int limit) {
		return this.store.audit(before, limit);
	}

	@Override
	public CompletionStage<Boolean> lead(String task, String instance, Duration time) {
		return this.store.lead(task, instance, time);
	}

	@Override
	public AutoCloseable subscribe(LongConsumer listener) {
		return this.store.subscribe(listener);
	}

}
