package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.Set;
import java.util.function.Function;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Wrapped;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * The way to the database: few connections, and an answer or a failure by the deadline,
 * whatever the database does. A connection whose work was given up is closed rather than
 * kept: if the database is frozen or the network gone, waiting for it would use up the
 * pool.
 */
final class Database implements AutoCloseable {

	static final Duration DEADLINE = Duration.ofSeconds(1);

	/** For connections that no call waits for; a cold driver takes its time. */
	private static final Duration CONNECT = Duration.ofSeconds(5);

	/** Writers queue on one row, so more connections would not make them faster. */
	private static final int CONNECTIONS = 4;

	/** Frees the row that writers queue on if the instance that holds it has vanished. */
	private static final String SERVER_LIMITS = """
			SET statement_timeout = '5s'; SET idle_in_transaction_session_timeout = '5s'""";

	/** Serialization failure and deadlock. */
	private static final Set<String> TRANSIENT = Set.of("40001", "40P01");

	private static final Retry RETRY = Retry.backoff(6, Duration.ofMillis(10))
		.maxBackoff(Duration.ofMillis(200))
		.filter((error) -> hasState(error, TRANSIENT))
		.onRetryExhaustedThrow((spec, signal) -> signal.failure());

	private final ConnectionFactory factory;

	private final ConnectionPool pool;

	/**
	 * Makes connections of its own, also if it is given a pool: what the application does
	 * with its pool must not keep the limiter from its policies.
	 */
	Database(ConnectionFactory factory) {
		this.factory = (factory instanceof ConnectionPool shared) ? shared.unwrap() : factory;
		this.pool = new ConnectionPool(ConnectionPoolConfiguration.builder(new LimitedFactory(this.factory))
			.initialSize(0)
			.maxSize(CONNECTIONS)
			.maxIdleTime(Duration.ofMinutes(1))
			.maxAcquireTime(DEADLINE)
			.maxCreateConnectionTime(DEADLINE)
			.maxValidationTime(DEADLINE)
			.build());
	}

	/**
	 * Runs one statement, or several that need not hold together.
	 */
	<T> Mono<T> run(Function<Session, Mono<T>> work) {
		return Mono
			.usingWhen(this.pool.create(), (connection) -> work.apply(new Session(connection)), Connection::close,
					(connection, error) -> discard(connection), Database::discard)
			.retryWhen(RETRY)
			.timeout(DEADLINE);
	}

	/**
	 * Runs statements that are done as a whole or not at all. A failure by the deadline
	 * leaves open which of the two.
	 */
	<T> Mono<T> transaction(Function<Session, Mono<T>> work) {
		return Mono
			.usingWhen(this.pool.create(), (connection) -> commit(connection, work), Connection::close,
					(connection, error) -> rollback(connection), Database::discard)
			.retryWhen(RETRY)
			.timeout(DEADLINE);
	}

	/**
	 * Runs something on a connection that is made for it, without the limits that hold
	 * for others.
	 */
	<T> Flux<T> apart(Function<Session, Publisher<T>> work) {
		return Flux.usingWhen(Mono.<Connection>from(this.factory.create()).timeout(CONNECT),
				(connection) -> work.apply(new Session(connection)), Connection::close,
				(connection, error) -> connection.close(), Connection::close);
	}

	/** The pool itself would wait for a database that is frozen. */
	@Override
	public void close() {
		this.pool.disposeLater().timeout(DEADLINE).onErrorComplete().block();
	}

	static boolean hasState(Throwable error, Set<String> states) {
		return error instanceof R2dbcException ex && ex.getSqlState() != null && states.contains(ex.getSqlState());
	}

	/**
	 * Not the database's default isolation: under a stricter one, writers that queue on a
	 * row would fail instead of wait.
	 */
	private static <T> Mono<T> commit(Connection connection, Function<Session, Mono<T>> work) {
		return Mono.from(connection.beginTransaction(IsolationLevel.READ_COMMITTED))
			.then(work.apply(new Session(connection)))
			.flatMap((result) -> Mono.from(connection.commitTransaction()).thenReturn(result));
	}

	private static Mono<Void> rollback(Connection connection) {
		return Mono.from(connection.rollbackTransaction())
			.timeout(DEADLINE)
			.then(Mono.from(connection.close()))
			.onErrorResume((error) -> discard(connection));
	}

	/** The pool finds it closed when it gets it back, and forgets it. */
	private static Mono<Void> discard(Connection connection) {
		Mono<Void> real = (connection instanceof Wrapped<?> pooled && pooled.unwrap() instanceof Connection inner)
				? Mono.from(inner.close()) : Mono.empty();
		return real.timeout(DEADLINE)
			.onErrorComplete()
			.then(Mono.from(connection.close()).timeout(DEADLINE).onErrorComplete());
	}

	/**
	 * Tells the database once per connection when to give up by itself.
	 */
	private record LimitedFactory(ConnectionFactory factory) implements ConnectionFactory {

		@Override
		public Publisher<? extends Connection> create() {
			return Mono.<Connection>from(this.factory.create())
				.flatMap((connection) -> new Session(connection).run(SERVER_LIMITS)
					.thenReturn(connection)
					.onErrorResume((error) -> Mono.from(connection.close()).onErrorComplete().then(Mono.error(error)))
					// Whoever asked has gone away, and nobody else knows of it.
					.doOnCancel(() -> Mono.from(connection.close()).onErrorComplete().subscribe()));
		}

		@Override
		public ConnectionFactoryMetadata getMetadata() {
			return this.factory.getMetadata();
		}

	}

}
