package dev.ratelimit.control;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Quota;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Replica;

/**
 * Writes records about callers, singly and in pieces. A record that an early release
 * wrote with the API key itself is replaced by one with its digest.
 */
final class RecordWrites {

	private final StoreAccess store;

	private final Replica replica;

	private final ChangeCheck check;

	RecordWrites(StoreAccess store, Replica replica, ChangeCheck check) {
		this.store = store;
		this.replica = replica;
		this.check = check;
	}

	CompletionStage<RecordVersion> write(Change change, Map<String, Object> kept, Author author) {
		Edit edit = Documents.with(kept, this.check.edit(change));
		List<Edit> edits = edits(edit, undigested(edit.key()));
		if (edit.body() == null) {
			return this.store.delete(edits.get(0).key(), "There is no such record", edit.expect(), author);
		}
		return this.store.write(edits, author).thenApply((versions) -> versions.get(versions.size() - 1));
	}

	CompletionStage<Long> writeAll(List<Change> page, Author author, IntConsumer progress) {
		List<List<Edit>> pieces = new ArrayList<>();
		List<Integer> ends = new ArrayList<>();
		Map<RecordKey, RecordKey> undigested = undigested();
		Map<String, Map<String, List<Quota>>> quotas = new HashMap<>();
		for (int i = 0; i < page.size(); i++) {
			Edit edit = this.check.edit(page.get(i), "records[" + i + "]", quotas);
			add(pieces, edits(edit, undigested(edit.key(), undigested)));
			if (ends.size() < pieces.size()) {
				ends.add(i);
			}
			ends.set(pieces.size() - 1, i + 1);
		}
		CompletionStage<Long> written = CompletableFuture.completedStage(0L);
		for (int i = 0; i < pieces.size(); i++) {
			List<Edit> piece = pieces.get(i);
			int end = ends.get(i);
			written = written.thenCompose((before) -> this.store.write(piece, author)).thenApply((versions) -> {
				progress.accept(end);
				return versions.get(versions.size() - 1).revision();
			});
		}
		return written;
	}

	/**
	 * What to write, given the key that the record has without a digest, if it has one.
	 */
	private static List<Edit> edits(Edit edit, @Nullable RecordKey undigested) {
		if (undigested == null) {
			return List.of(edit);
		}
		Edit removal = new Edit(undigested, null, edit.expect());
		return (edit.body() != null) ? List.of(removal, new Edit(edit.key(), edit.body(), null)) : List.of(removal);
	}

	/** Edits of one record stay in one piece: half of them would lose the record. */
	private static void add(List<List<Edit>> pieces, List<Edit> edits) {
		List<Edit> last = pieces.isEmpty() ? null : pieces.get(pieces.size() - 1);
		if (last == null || last.size() + edits.size() > PolicyStore.MAX_EDITS) {
			last = new ArrayList<>();
			pieces.add(last);
		}
		last.addAll(edits);
	}

	/**
	 * The key of a record that an early release wrote with the API key itself, and nobody
	 * since; {@code null} as a rule.
	 */
	@Nullable RecordKey undigested(RecordKey key) {
		return key.id().contains(Dimension.API_KEY.name()) ? undigested(key, undigested()) : null;
	}

	private @Nullable RecordKey undigested(RecordKey key, Map<RecordKey, RecordKey> undigested) {
		RecordVersion known = this.replica.get(key);
		return (known != null && !known.deleted()) ? null : undigested.get(key);
	}

	/** All such keys, by the keys with digests. Goes through all records. */
	private Map<RecordKey, RecordKey> undigested() {
		return this.replica.snapshot(0)
			.records()
			.stream()
			.filter((version) -> !version.deleted())
			.map(RecordVersion::key)
			.filter((key) -> !RecordIds.today(key).equals(key))
			.collect(Collectors.toMap(RecordIds::today, Function.identity(), (first, second) -> second));
	}

}
