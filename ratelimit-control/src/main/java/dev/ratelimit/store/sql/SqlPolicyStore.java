package dev.ratelimit.store.sql;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
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

import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.FleetSums;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;

/**
 * Keeps records in PostgreSQL or CockroachDB. The tables are made when the database is
 * first reached, be that at once or later. Writes are told to others by PostgreSQL's
 * notifications; CockroachDB has none, so there only asking finds them.
 */
public final class SqlPolicyStore implements PolicyStore, AutoCloseable {

	/** Both parts from one statement, hence from one state of the database. */
	private static final String CHANGES = """
			SELECT %s, s.store_id, s.revision AS last FROM ratelimit_store s
			LEFT JOIN (
				SELECT h.* FROM ratelimit_record r
				JOIN ratelimit_record_version h ON h.kind = r.kind AND h.id = r.id AND h.version = r.version
				WHERE r.revision > $1 ORDER BY r.revision LIMIT $2
			) v ON TRUE
			ORDER BY v.revision""".formatted(Rows.VERSION);

	private static final String HISTORY = """
			SELECT %s FROM ratelimit_record_version v WHERE v.kind = $1 AND v.id = $2
			ORDER BY v.version DESC LIMIT $3""".formatted(Rows.VERSION);

	private static final String ADD_AUDIT = "INSERT INTO ratelimit_audit (" + Rows.AUDIT
			+ ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

	private static final String AUDIT = "SELECT " + Rows.AUDIT + """
			, entry FROM ratelimit_audit WHERE (happened_at, entry) < ($1, $2)
			ORDER BY happened_at DESC, entry DESC LIMIT $3""";

	/** No row comes back if the task is another instance's and its time is not over. */
	private static final String LEAD = """
			INSERT INTO ratelimit_leader (task, owner, expires_at)
			VALUES ($1, $2, now() + $3::bigint * INTERVAL '1 millisecond')
			ON CONFLICT (task) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
			WHERE ratelimit_leader.owner = excluded.owner OR ratelimit_leader.expires_at <= now()
			RETURNING owner""";

	/** After everything that happens. */
	private static final AuditPosition END = new AuditPosition(Instant.parse("9999-12-31T23:59:59Z"), Long.MAX_VALUE);

	private final Database database;

	private final Schema schema;

	private final Notifications notifications;

	private final SqlFleetSums sums;

	private final Disposable.Composite subscriptions = Disposables.composite();

	private SqlPolicyStore(Database database) {
		this.database = database;
		this.schema = new Schema(database);
		this.notifications = new Notifications(database, this.schema);
		this.sums = new SqlFleetSums(this.schema, System::nanoTime);
	}

	/**
	 * A store in the database that a factory connects to. It makes at most four
	 * connections and one more for each subscription; of a pool it only takes the factory
	 * inside.
	 */
	public static SqlPolicyStore in(ConnectionFactory factory) {
		return new SqlPolicyStore(new Database(factory));
	}

	/**
	 * Numbers of the fleet, kept beside the records and over the same connections.
	 */
	public FleetSums sums() {
		return this.sums;
	}

	@Override
	public CompletionStage<Changes> changesSince(long revision, int limit) {
		return ask((session) -> session.rows(CHANGES, SqlPolicyStore::change, revision, (long) limit)
			.collectList()
			.map(SqlPolicyStore::changes));
	}

	@Override
	public CompletionStage<List<RecordVersion>> write(List<Edit> edits, String actor, String reason) {
		if (edits.isEmpty()) {
			return CompletableFuture.completedFuture(List.of());
		}
		return write(() -> RecordWrite.of(edits, actor, reason)).toFuture();
	}

	@Override
	public CompletionStage<Void> restore(String storeId, long revision, List<RecordVersion> records, String actor,
			String reason) {
		return write(() -> RecordWrite.restoring(storeId, revision, records, actor, reason)).then().toFuture();
	}

	@Override
	public CompletionStage<List<RecordVersion>> history(RecordKey key, int limit) {
		return ask((session) -> session.rows(HISTORY, Rows::version, key.kind().text(), key.id(), (long) limit)
			.collectList());
	}

	@Override
	public CompletionStage<Void> audit(AuditRecord entry) {
		return ask((session) -> session.run(ADD_AUDIT, entry.time().truncatedTo(ChronoUnit.MICROS), entry.action(),
				entry.outcome(), entry.actor(), entry.target(), entry.before(), entry.after(), entry.reason()));
	}

	@Override
	public CompletionStage<List<AuditRecord>> audit(@Nullable AuditPosition before, int limit) {
		AuditPosition end = (before != null) ? before : END;
		return ask((session) -> session
			.rows(AUDIT, Rows::audit, end.time().truncatedTo(ChronoUnit.MICROS), end.sequence(), (long) limit)
			.collectList());
	}

	@Override
	public CompletionStage<Boolean> lead(String task, String instance, Duration time) {
		return ask((session) -> session.rows(LEAD, (row) -> true, task, instance, time.toMillis())
			.singleOrEmpty()
			.defaultIfEmpty(false));
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
		this.database.close();
	}

	private Mono<List<RecordVersion>> write(Supplier<RecordWrite> asked) {
		return Mono.fromSupplier(asked)
			.flatMap((write) -> this.schema
				.with((dialect) -> this.database.transaction((session) -> write.run(session, dialect))));
	}

	private <T> CompletionStage<T> ask(Function<Session, Mono<T>> question) {
		return this.schema.run(question).toFuture();
	}

	private static Changes changes(List<Changes> rows) {
		List<RecordVersion> versions = rows.stream().flatMap((row) -> row.versions().stream()).toList();
		return rows.isEmpty() ? new Changes("", 0, List.of())
				: new Changes(rows.get(0).storeId(), rows.get(0).revision(), versions);
	}

	/** Without a version if there are none; the store's own columns are always there. */
	private static Changes change(Readable row) {
		List<RecordVersion> version = (row.get(0, String.class) != null) ? List.of(Rows.version(row)) : List.of();
		return new Changes(Rows.text(row, 8), Rows.number(row, 9), version);
	}

}
