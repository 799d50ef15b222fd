package dev.ratelimit.store.sql;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

import io.r2dbc.spi.Readable;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditHead;
import dev.ratelimit.store.AuditLink;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;

/**
 * The audit trail in a table. An entry is added in a transaction that first locks the row
 * with the newest hash: the next writer waits and follows this entry. Positions have
 * increasing times of the database's clock, so that their order is that of the chain.
 */
final class SqlAudit {

	/** Rows of a page: fewer than a second's worth. */
	private static final int PAGE = 1_000;

	/** Rows that one call removes: fewer than a second's worth. */
	static final long MAX_REMOVED = 10_000;

	private static final String LOCK = """
			INSERT INTO ratelimit_audit_chain (one, number, hash, last_at)
			VALUES (1, 0, '', TIMESTAMPTZ '1970-01-01 00:00:00Z')
			ON CONFLICT (one) DO UPDATE SET number = ratelimit_audit_chain.number
			RETURNING number, hash, GREATEST(clock_timestamp(), last_at + INTERVAL '1 microsecond')""";

	private static final String IS_WRITTEN = "SELECT chain_number FROM ratelimit_audit WHERE entry_id = $1";

	private static final String COLUMNS = "happened_at, action, outcome, actor, target, value_before, value_after, "
			+ "reason, entry_id, attempted_at, chain_number, previous_hash, hash";

	private static final String ADD = "INSERT INTO ratelimit_audit (" + COLUMNS
			+ ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

	private static final String SET_HEAD = """
			UPDATE ratelimit_audit_chain SET number = $1, hash = $2, last_at = $3 WHERE one = 1""";

	private static final String REMOVE = """
			DELETE FROM ratelimit_audit WHERE (happened_at, entry) IN (
				SELECT a.happened_at, a.entry FROM ratelimit_audit a WHERE (a.happened_at, a.entry) <= ($1, $2)
				ORDER BY a.happened_at, a.entry LIMIT $3)""";

	private static final String READ = "SELECT " + COLUMNS + """
			, entry FROM ratelimit_audit WHERE (happened_at, entry) < ($1, $2)
			ORDER BY happened_at DESC, entry DESC LIMIT $3""";

	private static final String HEAD = "SELECT number, hash FROM ratelimit_audit_chain";

	private final Database database;

	private final Database scans;

	private final Schema schema;

	/**
	 * Creates a trail.
	 * @param scans connections for readers of many pages
	 */
	SqlAudit(Database database, Database scans, Schema schema) {
		this.database = database;
		this.scans = scans;
		this.schema = schema;
	}

	Mono<Void> add(AuditRecord attempt, @Nullable AuditPosition remove) {
		return this.schema.with((notifies) -> this.database.transaction((session) -> lock(session)
			.flatMap((place) -> session.rows(IS_WRITTEN, (row) -> Rows.number(row, 0), attempt.id())
				.hasElements()
				.flatMap((written) -> written ? Mono.just(true) : add(session, attempt, place, remove)))))
			.then();
	}

	Mono<List<AuditEntry>> page(@Nullable AuditPosition before, int limit) {
		return page(this.database, before, limit);
	}

	Mono<List<AuditEntry>> scan(@Nullable AuditPosition before) {
		return page(this.scans, before, PAGE);
	}

	private Mono<List<AuditEntry>> page(Database database, @Nullable AuditPosition before, int limit) {
		AuditPosition end = (before != null) ? before : AuditPosition.END;
		return this.schema.with((notifies) -> database.run((session) -> session
			.rows(READ, SqlAudit::entry, end.time().truncatedTo(ChronoUnit.MICROS), end.sequence(), (long) limit)
			.collectList()));
	}

	Mono<AuditHead> head() {
		return this.schema
			.run((session) -> session.rows(HEAD, (row) -> new AuditHead(Rows.number(row, 0), Rows.text(row, 1)))
				.next()
				.defaultIfEmpty(AuditHead.NONE));
	}

	private static Mono<Place> lock(Session session) {
		return session
			.rows(LOCK, (row) -> new Place(new AuditHead(Rows.number(row, 0), Rows.text(row, 1)), Rows.time(row, 2)))
			.single();
	}

	private static Mono<Boolean> add(Session session, AuditRecord attempt, Place place,
			@Nullable AuditPosition remove) {
		AuditLink link = place.head().follow(attempt);
		return session
			.run(ADD, place.time(), attempt.action(), attempt.outcome(), attempt.actor(), attempt.target(),
					attempt.before(), attempt.after(), attempt.reason(), attempt.id(), attempt.time(), link.number(),
					link.previous(), link.hash())
			.then(session.run(SET_HEAD, link.number(), link.hash(), place.time()))
			.then((remove != null) ? session.run(REMOVE, remove.time(), remove.sequence(), MAX_REMOVED) : Mono.empty())
			.thenReturn(true);
	}

	/** Entries of an earlier release have only the first columns. */
	private static AuditEntry entry(Readable row) {
		Instant time = Rows.time(row, 0);
		String id = row.get(8, String.class);
		Instant attempted = row.get(9, Instant.class);
		String hash = row.get(12, String.class);
		Long number = row.get(10, Long.class);
		String previous = row.get(11, String.class);
		return new AuditEntry(new AuditPosition(time, Rows.number(row, 13)),
				new AuditRecord((id != null) ? id : "", (attempted != null) ? attempted : time, Rows.text(row, 1),
						Rows.text(row, 2), Rows.text(row, 3), Rows.text(row, 4), Rows.text(row, 5), Rows.text(row, 6),
						Rows.text(row, 7)),
				(hash != null) ? new AuditLink((number != null) ? number : 0, (previous != null) ? previous : "", hash)
						: null);
	}

	/** Where the next entry goes. */
	private record Place(AuditHead head, Instant time) {
	}

}
