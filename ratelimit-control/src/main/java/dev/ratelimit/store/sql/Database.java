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
 * A small pool of connections with a deadline for every call. A connection whose work was
 * cancelled is closed, not kept: with a frozen database or a broken network, waiting for
 * it would use up the pool.
 */
final class Database implements AutoCloseable {

	static final Duration DEADLINE = Duration.ofSeconds(1);

	/** For connections that no call waits for: a cold driver needs more than 1 s. */
	private static final Duration CONNECT = Duration.ofSeconds(5);

	/** Free the row that writers queue on after the instance that locked it died. */
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
	 * Makes its own connections, even if it is given a pool: an application that uses up
	 * its pool must not cut the limiter off from its policies.
	 */
	Database(ConnectionFactory factory, int connections) {
		this.factory = (factory instanceof ConnectionPool shared) ? shared.unwrap() : factory;
		this.pool = new ConnectionPool(ConnectionPoolConfiguration.builder(new LimitedFactory(this.factory))
			.initialSize(0)
			.maxSize(connections)
			.maxIdleTime(Duration.ofMinutes(1))
			.maxAcquireTime(DEADLINE)
			.maxCreateConnectionTime(DEADLINE)
			.maxValidationTime(DEADLINE)
			.build());
	}

	/** Runs statements outside a transaction. */
	<T> Mono<T> run(Function<Session, Mono<T>> work) {
		return call((connection) -> work.apply(new Session(connection)), Database::discard);
	}

	/**
	 * Runs statements in a transaction. After a timeout it is open whether it was
	 * committed.
	 */
	<T> Mono<T> transaction(Function<Session, Mono<T>> work) {
		return call((connection) -> commit(connection, work), Database::rollback);
	}

	private <T> Mono<T> call(Function<Connection, Mono<T>> work, Function<Connection, Mono<Void>> undo) {
		return Mono
			.usingWhen(this.pool.create(), work, Connection::close, (connection, error) -> undo.apply(connection),
					Database::discard)
			.retryWhen(RETRY)
			.timeout(DEADLINE);
	}

	/** Runs work on a new connection, without the time limits of the others. */
	<T> Flux<T> apart(Function<Session, Publisher<T>> work) {
		return Flux.usingWhen(Mono.<Connection>from(this.factory.create()).timeout(CONNECT),
				(connection) -> work.apply(new Session(connection)), Connection::close,
				(connection, error) -> connection.close(), Connection::close);
	}

	@Override
	public void close() {
		closing().block();
	}

	/** Bounded: the pool would wait for a frozen database. */
	Mono<Void> closing() {
		return this.pool.disposeLater().timeout(DEADLINE).onErrorComplete();
	}

	static boolean hasState(Throwable error, Set<String> states) {
		return error instanceof R2dbcException ex && ex.getSqlState() != null && states.contains(ex.getSqlState());
	}

	/**
	 * Sets the isolation: under a stricter default, writers that queue on a row would
	 * fail instead of wait.
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

	/** The pool forgets a connection that comes back closed. */
	private static Mono<Void> discard(Connection connection) {
		Mono<Void> real = (connection instanceof Wrapped<?> pooled && pooled.unwrap() instanceof Connection inner)
				? Mono.from(inner.close()) : Mono.empty();
		return real.timeout(DEADLINE)
			.onErrorComplete()
			.then(Mono.from(connection.close()).timeout(DEADLINE).onErrorComplete());
	}

	/** Sets the server's time limits once per connection. */
	private record LimitedFactory(ConnectionFactory factory) implements ConnectionFactory {

		@Override
		public Publisher<? extends Connection> create() {
			return Mono.<Connection>from(this.factory.create())
				.flatMap((connection) -> new Session(connection).run(SERVER_LIMITS)
					.thenReturn(connection)
					.onErrorResume((error) -> Mono.from(connection.close()).onErrorComplete().then(Mono.error(error)))
					// A cancelled caller cannot close it.
					.doOnCancel(() -> Mono.from(connection.close()).onErrorComplete().subscribe()));
		}

		@Override
		public ConnectionFactoryMetadata getMetadata() {
			return this.factory.getMetadata();
		}

	}

}
