package dev.ratelimit.store.sql;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import dev.ratelimit.store.ConflictException;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

/**
 * One write, inside a transaction. It takes its revisions first: the row they come from
 * stays locked until the transaction ends, so the next writer waits, sees all of this
 * write and gets higher ones.
 *
 * @param edits what to write, each record once
 * @param floor what the numbers go on from if the store's are lower
 * @param actor who
 * @param reason why
 */
record RecordWrite(List<Edit> edits, Floor floor, String actor, String reason) {

	static final String CHANNEL = "ratelimit_policies";

	private static final String TAKE_REVISIONS = """
			INSERT INTO ratelimit_store (one, store_id, revision)
			VALUES (1, CASE WHEN $1::text = '' THEN gen_random_uuid()::text ELSE $1::text END, $2::bigint + $3::bigint)
			ON CONFLICT (one) DO UPDATE SET
				store_id = CASE WHEN $1::text = '' THEN ratelimit_store.store_id ELSE excluded.store_id END,
				revision = GREATEST(ratelimit_store.revision, $2::bigint) + $3::bigint
			RETURNING revision, clock_timestamp()""";

	private static final String NEWEST = """
			SELECT r.kind, r.id, r.version FROM ratelimit_record r
			JOIN unnest($1::text[], $2::text[]) AS k (kind, id) ON r.kind = k.kind AND r.id = k.id""";

	private static final String ADD_VERSIONS = """
			INSERT INTO ratelimit_record_version (kind, id, version, revision, body, actor, written_at, reason)
			SELECT k.kind, k.id, k.version, k.revision, k.body, $6::text, $7::timestamptz, $8::text
			FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[])
				AS k (kind, id, version, revision, body)""";

	private static final String SET_NEWEST = """
			INSERT INTO ratelimit_record (kind, id, version, revision)
			SELECT k.kind, k.id, k.version, k.revision
			FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS k (kind, id, version, revision)
			ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, revision = excluded.revision""";

	/** Is heard when the transaction has succeeded, and not before. */
	private static final String NOTIFY = "SELECT pg_notify('" + CHANNEL + "', $1::text)";

	/**
	 * What somebody wants to change.
	 * @throws IllegalArgumentException if that is too much, or a record twice
	 */
	static RecordWrite of(List<Edit> edits, String actor, String reason) {
		return new RecordWrite(checked(edits), Floor.NONE, actor, reason);
	}

	/**
	 * What a store is to have that has lost it.
	 * @throws IllegalArgumentException if that is too much, or a record twice
	 */
	static RecordWrite restoring(String storeId, long revision, List<RecordVersion> records, String actor,
			String reason) {
		List<Edit> edits = checked(
				records.stream().map((record) -> new Edit(record.key(), record.body(), null)).toList());
		Map<RecordKey, Long> versions = records.stream()
			.collect(Collectors.toMap(RecordVersion::key, RecordVersion::version));
		return new RecordWrite(edits, new Floor(storeId, revision, versions), actor, reason);
	}

	Mono<List<RecordVersion>> run(Session session, Dialect dialect) {
		return takeRevisions(session).flatMap((taken) -> newest(session).map((newest) -> versions(taken, newest))
			.delayUntil((versions) -> versions.isEmpty() ? Mono.empty() : store(session, versions))
			.delayUntil((versions) -> (dialect == Dialect.POSTGRESQL) ? session.run(NOTIFY, Long.toString(taken.last()))
					: Mono.empty()));
	}

	private static List<Edit> checked(List<Edit> edits) {
		if (edits.size() > PolicyStore.MAX_EDITS) {
			throw new IllegalArgumentException(
					"a write has at most " + PolicyStore.MAX_EDITS + " records but this one has " + edits.size());
		}
		if (edits.stream().map(Edit::key).distinct().count() < edits.size()) {
			throw new IllegalArgumentException("a write names each record once but this one names one twice");
		}
		return List.copyOf(edits);
	}

	private Mono<Taken> takeRevisions(Session session) {
		return session
			.rows(TAKE_REVISIONS, (row) -> new Taken(Rows.number(row, 0), Rows.time(row, 1)), this.floor.storeId(),
					this.floor.revision(), (long) this.edits.size())
			.single();
	}

	private Mono<Map<RecordKey, Long>> newest(Session session) {
		List<RecordKey> keys = this.edits.stream().map(Edit::key).toList();
		return session
			.rows(NEWEST, (row) -> Map.entry(Rows.key(row, 0, 1), Rows.number(row, 2)),
					strings(keys, (key) -> key.kind().text()), strings(keys, RecordKey::id))
			.collectMap(Map.Entry::getKey, Map.Entry::getValue);
	}

	private List<RecordVersion> versions(Taken taken, Map<RecordKey, Long> newest) {
		long revision = taken.last() - this.edits.size();
		List<RecordVersion> versions = new ArrayList<>(this.edits.size());
		for (Edit edit : this.edits) {
			long current = newest.getOrDefault(edit.key(), 0L);
			if (edit.expect() != null && edit.expect() != current) {
				throw new ConflictException(edit.expect(), current);
			}
			long version = Math.max(current, this.floor.versions().getOrDefault(edit.key(), 0L)) + 1;
			versions.add(new RecordVersion(edit.key(), version, ++revision, edit.body(), this.actor, taken.time(),
					this.reason));
		}
		return versions;
	}

	private Mono<Void> store(Session session, List<RecordVersion> versions) {
		String[] kinds = strings(versions, (version) -> version.key().kind().text());
		String[] ids = strings(versions, (version) -> version.key().id());
		Long[] numbers = versions.stream().map(RecordVersion::version).toArray(Long[]::new);
		Long[] revisions = versions.stream().map(RecordVersion::revision).toArray(Long[]::new);
		return session
			.run(ADD_VERSIONS, kinds, ids, numbers, revisions, strings(versions, RecordVersion::body), this.actor,
					versions.get(0).time(), this.reason)
			.then(session.run(SET_NEWEST, kinds, ids, numbers, revisions));
	}

	private static <T> String[] strings(List<T> values, Function<T, ? extends @Nullable String> part) {
		return values.stream().map(part).toArray(String[]::new);
	}

	/**
	 * The numbers of a store before it lost something.
	 *
	 * @param storeId the store's from now on, empty for the one it has
	 * @param revision of the store
	 * @param versions of records
	 */
	record Floor(String storeId, long revision, Map<RecordKey, Long> versions) {

		static final Floor NONE = new Floor("", 0, Map.of());

	}

	/**
	 * What the store has given to this write.
	 *
	 * @param last the highest revision
	 * @param time by the database's clock
	 */
	private record Taken(long last, Instant time) {
	}

}
