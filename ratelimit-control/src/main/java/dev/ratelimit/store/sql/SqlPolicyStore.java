package dev.ratelimit.store.sql;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Readable;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditHead;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.Forgotten;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.store.StoreWrite;

/**
 * Keeps records in PostgreSQL or CockroachDB. Creates the tables when it first reaches
 * the database. PostgreSQL notifies other instances of writes; with CockroachDB they find
 * writes by polling.
 */
public final class SqlPolicyStore implements PolicyStore, AutoCloseable {

	/** One statement, so that both parts come from one state of the database. */
	private static final String CHANGES = """
			SELECT %s, s.store_id, s.revision AS last, s.forgotten_revision, s.forgotten_version FROM ratelimit_store s
			LEFT JOIN (
				SELECT h.* FROM ratelimit_record r
				JOIN ratelimit_record_version h ON h.kind = r.kind AND h.id = r.id AND h.version = r.version
				WHERE r.revision > $1 ORDER BY r.revision LIMIT $2
			) v ON TRUE
			ORDER BY v.revision""".formatted(Rows.VERSION);

	private static final String HISTORY = """
			SELECT %s FROM ratelimit_record_version v WHERE v.kind = $1 AND v.id = $2
			ORDER BY v.version DESC LIMIT $3""".formatted(Rows.VERSION);

	/** Returns no row while another instance has the task. */
	private static final String LEAD = """
			INSERT INTO ratelimit_leader (task, owner, expires_at)
			VALUES ($1, $2, now() + $3::bigint * INTERVAL '1 millisecond')
			ON CONFLICT (task) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
			WHERE ratelimit_leader.owner = excluded.owner OR ratelimit_leader.expires_at <= now()
			RETURNING now()""";

	/** Long after their end: a leader that asks again keeps its row. */
	private static final String REMOVE_LEADERS = """
			DELETE FROM ratelimit_leader
			WHERE expires_at < now() - INTERVAL '1 hour' AND task IN (
				SELECT l.task FROM ratelimit_leader l WHERE l.expires_at < now() - INTERVAL '1 hour' LIMIT $1)""";

	/** Writers queue on one row: more connections would not be faster. */
	private static final int CONNECTIONS = 4;

	/** A verification, and the search for old entries. */
	private static final int SCANS = 2;

	private final Database database;

	/** Apart, so that reading the whole audit trail holds nobody up. */
	private final Database scans;

	private final Schema schema;

	private final Notifications notifications;

	private final SqlFleetSums sums;

	private final SqlAudit audit;

	private final ExpiredRows leaders;

	private final Disposable.Composite subscriptions = Disposables.composite();

	/**
	 * Creates a store with at most four connections, two more for scans of the audit
	 * trail, and one for each subscription. Of a pool it uses only the factory inside.
	 */
	public SqlPolicyStore(ConnectionFactory factory) {
		this.database = new Database(factory, CONNECTIONS);
		this.scans = new Database(factory, SCANS);
		this.schema = new Schema(this.database);
		this.notifications = new Notifications(this.database, this.schema);
		this.sums = new SqlFleetSums(this.schema, System::nanoTime);
		this.audit = new SqlAudit(this.database, this.scans, this.schema);
		this.leaders = new ExpiredRows(this.schema, REMOVE_LEADERS, System::nanoTime);
	}

	@Override
	public CompletionStage<Changes> changesSince(long revision, int limit) {
		return ask((session) -> session.rows(CHANGES, SqlPolicyStore::change, revision, (long) limit)
			.collectList()
			.map(SqlPolicyStore::changes));
	}

	@Override
	public CompletionStage<List<RecordVersion>> write(List<Edit> edits, Seen seen, String actor, String reason) {
		return edits.isEmpty() ? CompletableFuture.completedFuture(List.of())
				: write(() -> StoreWrite.of(edits, seen, actor, reason)).toFuture();
	}

	@Override
	public CompletionStage<Void> restore(String storeId, long revision, long version, List<RecordVersion> records) {
		return write(() -> StoreWrite.restoring(storeId, revision, version, records)).then().toFuture();
	}

	@Override
	public CompletionStage<Void> forget(List<RecordVersion> deletions, Seen seen) {
		return Mono.fromSupplier(() -> new ForgottenRecords(deletions, seen))
			.flatMap((forgotten) -> this.schema.with((notifies) -> this.database.transaction(forgotten::run)))
			.then()
			.toFuture();
	}

	@Override
	public CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
		return ask((session) -> session.rows(HISTORY, Rows::version, Rows.kind(key), Rows.id(key), (long) limit)
			.collectList());
	}

	@Override
	public CompletionStage<Void> audit(AuditRecord attempt, @Nullable AuditPosition remove) {
		return this.audit.add(attempt, remove).toFuture();
	}

	@Override
	public CompletionStage<List<AuditEntry>> audit(@Nullable AuditPosition before, int limit) {
		return this.audit.page(before, limit).toFuture();
	}

	@Override
	public CompletionStage<List<AuditEntry>> scanAudit(@Nullable AuditPosition before) {
		return this.audit.scan(before).toFuture();
	}

	@Override
	public CompletionStage<AuditHead> auditHead() {
		return this.audit.head().toFuture();
	}

	@Override
	public CompletionStage<Optional<Instant>> lead(String task, String instance, Duration time) {
		return ask((session) -> session.rows(LEAD, (row) -> Rows.time(row, 0), task, instance, time.toMillis())
			.singleOrEmpty()
			.map(Optional::of)
			.defaultIfEmpty(Optional.empty())
			.doOnSuccess((led) -> this.leaders.remove()));
	}

	@Override
	public CompletionStage<List<Long>> add(String name, List<Long> numbers) {
		return this.sums.add(name, numbers);
	}

	@Override
	public AutoCloseable subscribe(LongConsumer listener) {
		Disposable subscription = this.notifications.subscribe(listener);
		this.subscriptions.add(subscription);
		return () -> {
			this.subscriptions.remove(subscription);
			subscription.dispose();
		};
	}

	@Override
	public void close() {
		this.subscriptions.dispose();
		Mono.when(this.scans.closing(), this.database.closing()).block();
	}

	private Mono<List<RecordVersion>> write(Supplier<StoreWrite> wanted) {
		return Mono.fromSupplier(wanted)
			.flatMap((write) -> this.schema.with((notifies) -> this.database
				.transaction((session) -> new RecordWrite(write).run(session, notifies))));
	}

	private <T> CompletionStage<T> ask(Function<Session, Mono<T>> question) {
		return this.schema.run(question).toFuture();
	}

	private static Changes changes(List<Changes> rows) {
		List<RecordVersion> versions = rows.stream().flatMap((row) -> row.versions().stream()).toList();
		return rows.isEmpty() ? new Changes("", 0, List.of())
				: new Changes(rows.get(0).storeId(), rows.get(0).revision(), versions, rows.get(0).forgotten());
	}

	/** A store without records has one row, with its own columns alone. */
	private static Changes change(Readable row) {
		List<RecordVersion> version = (row.get(0, String.class) != null) ? List.of(Rows.version(row)) : List.of();
		return new Changes(Rows.text(row, 8), Rows.number(row, 9), version,
				new Forgotten(Rows.number(row, 10), Rows.number(row, 11)));
	}

}
