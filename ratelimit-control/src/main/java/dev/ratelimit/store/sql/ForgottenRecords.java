package dev.ratelimit.store.sql;

import java.util.List;

import reactor.core.publisher.Mono;

import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.StoreLostException;

/**
 * Removes deleted records, inside a transaction. It first locks the row on which writers
 * queue: no record is written again meanwhile.
 */
record ForgottenRecords(List<RecordVersion> deletions, Seen seen) {

	private static final String LOCK = "SELECT store_id, revision FROM ratelimit_store WHERE one = 1 FOR UPDATE";

	private static final String STILL_DELETED = """
			SELECT r.kind, r.id, r.version, r.revision FROM ratelimit_record r
			JOIN unnest($1::text[], $2::text[], $3::bigint[]) AS k (kind, id, revision)
				ON r.kind = k.kind AND r.id = k.id AND r.revision = k.revision
			JOIN ratelimit_record_version v ON v.kind = r.kind AND v.id = r.id AND v.version = r.version
			WHERE v.body IS NULL""";

	private static final String REMOVE = """
			DELETE FROM %s WHERE (kind, id) IN (
				SELECT k.kind, k.id FROM unnest($1::text[], $2::text[]) AS k (kind, id))""";

	private static final String NOTE = """
			UPDATE ratelimit_store SET forgotten_revision = GREATEST(forgotten_revision, $1::bigint),
				forgotten_version = GREATEST(forgotten_version, $2::bigint)
			WHERE one = 1""";

	ForgottenRecords {
		if (deletions.size() > PolicyStore.MAX_EDITS) {
			throw new IllegalArgumentException("at most " + PolicyStore.MAX_EDITS
					+ " records can be forgotten at once, but these are " + deletions.size());
		}
	}

	/** Runs it, and completes with the number of removed records. */
	Mono<Integer> run(Session session) {
		return session.rows(LOCK, (row) -> this.seen.isIn(Rows.text(row, 0), Rows.number(row, 1)))
			.single(false)
			.flatMap((known) -> known ? stillDeleted(session) : Mono.error(StoreLostException::new))
			.flatMap((rows) -> rows.isEmpty() ? Mono.just(0) : remove(session, rows).thenReturn(rows.size()));
	}

	private Mono<List<Row>> stillDeleted(Session session) {
		List<RecordKey> keys = this.deletions.stream().map(RecordVersion::key).toList();
		return session
			.rows(STILL_DELETED,
					(row) -> new Row(Rows.text(row, 0), Rows.text(row, 1), Rows.number(row, 2), Rows.number(row, 3)),
					RecordWrite.strings(keys, Rows::kind), RecordWrite.strings(keys, Rows::id),
					RecordWrite.numbers(this.deletions, RecordVersion::revision))
			.collectList();
	}

	private static Mono<Void> remove(Session session, List<Row> rows) {
		String[] kinds = RecordWrite.strings(rows, Row::kind);
		String[] ids = RecordWrite.strings(rows, Row::id);
		long revision = rows.stream().mapToLong(Row::revision).max().orElse(0);
		long version = rows.stream().mapToLong(Row::version).max().orElse(0);
		return session.run(REMOVE.formatted("ratelimit_record"), kinds, ids)
			.then(session.run(REMOVE.formatted("ratelimit_record_version"), kinds, ids))
			.then(session.run(NOTE, revision, version));
	}

	private record Row(String kind, String id, long version, long revision) {
	}

}
