package dev.ratelimit.store.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Creates the tables and applies later migrations. CockroachDB does not roll back schema
 * changes, so no transaction surrounds them: each statement can be repeated, and a
 * migration counts as applied after its last statement. Instances whose migrations
 * collide try again. If all migrations are applied, the user needs no right to change
 * tables.
 */
final class Schema {

	private static final Logger logger = LoggerFactory.getLogger(Schema.class);

	private static final List<Migration> MIGRATIONS = List.of(Migration.read(1, "V1__records.sql"),
			Migration.read(2, "V2__sums.sql"), Migration.read(3, "V3__audit_chain.sql"),
			Migration.read(4, "V4__forgotten.sql"));

	private static final String CREATE = """
			CREATE TABLE IF NOT EXISTS ratelimit_schema (
				version BIGINT PRIMARY KEY,
				name TEXT NOT NULL,
				applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
			)""";

	private static final String NOTE = """
			INSERT INTO ratelimit_schema (version, name) VALUES ($1, $2) ON CONFLICT (version) DO NOTHING""";

	private static final Set<String> NO_SUCH_TABLE = Set.of("42P01");

	/**
	 * PostgreSQL checks that a table is absent before it creates it: of two sessions that
	 * do so at once, one fails with the unique key of a catalogue.
	 */
	private static final Set<String> COLLISION = Set.of("23505", "42P07", "42710", "40001", "40P01");

	/** CockroachDB takes seconds for each schema change. */
	private static final Duration MIGRATION_TIMEOUT = Duration.ofMinutes(1);

	private final Database database;

	private volatile Mono<Boolean> ready;

	Schema(Database database) {
		this.database = database;
		this.ready = once();
	}

	/**
	 * Completes when the tables exist, with whether the database has LISTEN and NOTIFY:
	 * CockroachDB has neither.
	 */
	Mono<Boolean> ready() {
		return this.ready;
	}

	/**
	 * Runs statements outside a transaction when the tables exist.
	 */
	<T> Mono<T> run(Function<Session, Mono<T>> work) {
		return with((notifies) -> this.database.run(work));
	}

	/**
	 * Does the work when the tables exist; fails if they do not exist by the deadline.
	 */
	<T> Mono<T> with(Function<Boolean, Mono<T>> work) {
		return ready().timeout(Database.DEADLINE).flatMap(work).doOnError((error) -> {
			// The database was created anew: the next call creates the tables.
			if (Database.hasState(error, NO_SUCH_TABLE)) {
				this.ready = once();
			}
		});
	}

	private Mono<Boolean> once() {
		return Mono.defer(this::migrate)
			.cache((notifies) -> Duration.ofMillis(Long.MAX_VALUE), (error) -> Duration.ZERO, () -> Duration.ZERO);
	}

	private Mono<Boolean> migrate() {
		return this.database
			.<Boolean>apart(
					(session) -> session.rows("SELECT version()", (row) -> !Rows.text(row, 0).contains("CockroachDB"))
						.single()
						.delayUntil((notifies) -> applied(session).flatMap((applied) -> apply(session, applied))))
			.next()
			.retryWhen(Retry.backoff(50, Duration.ofMillis(20))
				.maxBackoff(Duration.ofMillis(100))
				.filter((error) -> Database.hasState(error, COLLISION))
				.onRetryExhaustedThrow((spec, signal) -> signal.failure()))
			.timeout(MIGRATION_TIMEOUT);
	}

	private static Mono<Set<Long>> applied(Session session) {
		return session.rows("SELECT version FROM ratelimit_schema", (row) -> Rows.number(row, 0))
			.collect(Collectors.toUnmodifiableSet())
			.onErrorResume((error) -> Database.hasState(error, NO_SUCH_TABLE),
					(error) -> session.run(CREATE).thenReturn(Set.of()));
	}

	private static Mono<Void> apply(Session session, Set<Long> applied) {
		return Flux.fromIterable(MIGRATIONS)
			.filter((migration) -> !applied.contains(migration.version()))
			.concatMap((migration) -> Flux.fromIterable(migration.statements())
				.concatMap(session::run)
				.then(session.run(NOTE, migration.version(), migration.name()))
				.doOnSuccess((done) -> logger.info("The schema of the policy store is now at {}", migration.name())))
			.then();
	}

	/** A file, read with the class: calls must not block. */
	private record Migration(long version, String name, List<String> statements) {

		static Migration read(long version, String name) {
			try (InputStream file = Schema.class.getResourceAsStream("/META-INF/ratelimit/sql/" + name)) {
				String sql = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
				String[] statements = sql.replaceAll("(?m)^--.*\n", "").split(";\n");
				return new Migration(version, name, Stream.of(statements).filter((it) -> !it.isBlank()).toList());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
