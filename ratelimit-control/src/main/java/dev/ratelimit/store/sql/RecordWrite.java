package dev.ratelimit.store.sql;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.StoreLostException;
import dev.ratelimit.store.StoreWrite;

/**
 * One write, inside a transaction. It takes its revisions first: the row that has the
 * last revision stays locked until the transaction ends, so the next writer waits, sees
 * all of this write and gets higher revisions.
 */
record RecordWrite(StoreWrite write) {

	static final String CHANNEL = "ratelimit_policies";

	private static final String TAKE_REVISIONS = """
			INSERT INTO ratelimit_store (one, store_id, revision, forgotten_version)
			VALUES (1, CASE WHEN $1::text = '' THEN gen_random_uuid()::text ELSE $1::text END, $2::bigint + $3::bigint,
				$4::bigint)
			ON CONFLICT (one) DO UPDATE SET
				store_id = CASE WHEN $1::text = '' THEN ratelimit_store.store_id ELSE excluded.store_id END,
				revision = GREATEST(ratelimit_store.revision, $2::bigint) + $3::bigint,
				forgotten_version = GREATEST(ratelimit_store.forgotten_version, $4::bigint)
			RETURNING store_id, revision, clock_timestamp(), forgotten_version""";

	private static final String NEWEST = """
			SELECT %s FROM ratelimit_record r
			JOIN unnest($1::text[], $2::text[]) AS k (kind, id) ON r.kind = k.kind AND r.id = k.id
			JOIN ratelimit_record_version v ON v.kind = r.kind AND v.id = r.id AND v.version = r.version"""
		.formatted(Rows.VERSION);

	/** Times as microseconds: drivers do not all bind arrays of times. */
	private static final String ADD_VERSIONS = """
			INSERT INTO ratelimit_record_version (kind, id, version, revision, body, actor, written_at, reason)
			SELECT k.kind, k.id, k.version, k.revision, k.body, k.actor,
				TIMESTAMPTZ '1970-01-01 00:00:00Z' + k.micros * INTERVAL '1 microsecond', k.reason
			FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[],
				$8::text[]) AS k (kind, id, version, revision, body, actor, micros, reason)""";

	/** Apart: an ordinary write needs no right to update. */
	private static final String RESTORE_VERSIONS = ADD_VERSIONS
			+ " ON CONFLICT (kind, id, version) DO UPDATE SET revision = excluded.revision";

	private static final String SET_NEWEST = """
			INSERT INTO ratelimit_record (kind, id, version, revision)
			SELECT k.kind, k.id, k.version, k.revision
			FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS k (kind, id, version, revision)
			ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, revision = excluded.revision""";

	/** By place: numbers have gaps after a record was forgotten or a store recovered. */
	private static final String REMOVE_OLD = """
			DELETE FROM ratelimit_record_version WHERE (kind, id, version) IN (
				SELECT r.kind, r.id, r.version FROM (
					SELECT v.kind, v.id, v.version,
						row_number() OVER (PARTITION BY v.kind, v.id ORDER BY v.version DESC) AS place
					FROM ratelimit_record_version v
					JOIN unnest($1::text[], $2::text[]) AS k (kind, id) ON v.kind = k.kind AND v.id = k.id
				) r WHERE r.place > $3::bigint)""";

	/** PostgreSQL delivers it when the transaction has committed. */
	private static final String NOTIFY = "SELECT pg_notify('" + CHANNEL + "', $1::text)";

	/**
	 * Runs it.
	 * @param notifies whether the database has NOTIFY
	 */
	Mono<List<RecordVersion>> run(Session session, boolean notifies) {
		return takeRevisions(session).flatMap((last) -> newest(session).map((newest) -> versions(last, newest))
			.delayUntil((versions) -> versions.isEmpty() ? Mono.empty() : store(session, versions))
			.delayUntil((versions) -> notifies ? session.run(NOTIFY, Long.toString(last.revision())) : Mono.empty()));
	}

	private Mono<Last> takeRevisions(Session session) {
		long count = this.write.entries().size();
		return session
			.rows(TAKE_REVISIONS,
					(row) -> new Last(Rows.text(row, 0), Rows.number(row, 1), Rows.time(row, 2), Rows.number(row, 3)),
					this.write.storeId(), this.write.revision(), count, this.write.version())
			.single()
			.doOnNext((last) -> {
				if (!this.write.seen().isIn(last.storeId(), last.revision() - count)) {
					throw new StoreLostException();
				}
			});
	}

	private Mono<Map<RecordKey, RecordVersion>> newest(Session session) {
		List<RecordKey> keys = this.write.entries().stream().map(StoreWrite.Entry::key).toList();
		return session.rows(NEWEST, Rows::version, strings(keys, Rows::kind), strings(keys, Rows::id))
			.collectMap(RecordVersion::key);
	}

	private List<RecordVersion> versions(Last last, Map<RecordKey, RecordVersion> newest) {
		long revision = last.revision() - this.write.entries().size();
		List<RecordVersion> versions = new ArrayList<>();
		for (StoreWrite.Entry entry : this.write.entries()) {
			versions.add(entry.after(newest.get(entry.key()), last.forgotten(), ++revision, last.time()));
		}
		return versions;
	}

	private Mono<Void> store(Session session, List<RecordVersion> versions) {
		String[] kinds = strings(versions, (version) -> Rows.kind(version.key()));
		String[] ids = strings(versions, (version) -> Rows.id(version.key()));
		Long[] numbers = numbers(versions, RecordVersion::version);
		Long[] revisions = numbers(versions, RecordVersion::revision);
		boolean old = versions.stream().anyMatch((version) -> version.version() > PolicyStore.KEPT_VERSIONS);
		return session
			.run(this.write.storeId().isEmpty() ? ADD_VERSIONS : RESTORE_VERSIONS, kinds, ids, numbers, revisions,
					strings(versions, RecordVersion::body), strings(versions, RecordVersion::actor),
					numbers(versions, (version) -> ChronoUnit.MICROS.between(Instant.EPOCH, version.time())),
					strings(versions, RecordVersion::reason))
			.then(session.run(SET_NEWEST, kinds, ids, numbers, revisions))
			.then(old ? session.run(REMOVE_OLD, kinds, ids, (long) PolicyStore.KEPT_VERSIONS) : Mono.empty());
	}

	static <T> String[] strings(List<T> values, Function<T, ? extends @Nullable String> part) {
		return values.stream().map(part).toArray(String[]::new);
	}

	static Long[] numbers(List<RecordVersion> versions, Function<RecordVersion, Long> number) {
		return versions.stream().map(number).toArray(Long[]::new);
	}

	/**
	 * The store after it has given the revisions, and the database's time.
	 *
	 * @param forgotten highest version of a forgotten deletion
	 */
	private record Last(String storeId, long revision, Instant time, long forgotten) {
	}

}
