package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import org.awaitility.Awaitility;
import reactor.core.publisher.Mono;

import dev.ratelimit.store.Edit;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.PostgresServer;

/**
 * Stores of several instances in one database, closed together.
 */
final class SqlStores implements AutoCloseable {

	private static final AtomicBoolean WARM = new AtomicBoolean();

	private final PostgresServer server;

	private final String database;

	private final List<SqlPolicyStore> stores = new ArrayList<>();

	SqlStores(PostgresServer server) {
		this.server = server;
		this.database = server.newDatabase();
		if (WARM.compareAndSet(false, true)) {
			warmUp(server);
		}
	}

	/** In another database: a cold driver needs more than the second that a call has. */
	private static void warmUp(PostgresServer server) {
		List<Edit> edits = List.of(new Edit(new RecordKey(RecordKey.Kind.POLICY, "orders"), "1", null));
		try (SqlStores others = new SqlStores(server)) {
			SqlPolicyStore store = others.open();
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.ignoreExceptions()
				.until(() -> store.write(edits, Seen.NOTHING, "ann", "because").toCompletableFuture().get() != null);
		}
	}

	SqlPolicyStore open() {
		return openAs(PostgresServer.USER);
	}

	synchronized SqlPolicyStore openAs(String user) {
		SqlPolicyStore store = new SqlPolicyStore(factory(user));
		this.stores.add(store);
		return store;
	}

	/** One of the first stores in turn: instances that are not started anew each time. */
	synchronized SqlPolicyStore openAtMost(int count) {
		if (this.stores.size() < count) {
			return open();
		}
		SqlPolicyStore first = this.stores.remove(0);
		this.stores.add(first);
		return first;
	}

	String database() {
		return this.database;
	}

	ConnectionFactory factory(String user) {
		return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
			.host(this.server.host())
			.port(this.server.port())
			.username(user)
			.database(this.database)
			.build());
	}

	List<String> query(String sql) {
		return this.server.query(this.database, sql);
	}

	void execute(String sql) {
		this.server.execute(this.database, sql);
	}

	/** Does something while a transaction that ran a statement is open. */
	void holding(String sql, Runnable action) {
		Connection connection = Mono.<Connection>from(factory(PostgresServer.USER).create()).block();
		try {
			Session session = new Session(connection);
			session.run("BEGIN").then(session.run(sql)).block();
			action.run();
		}
		finally {
			Mono.from(connection.close()).block();
		}
	}

	/** Ends the connections that listen, from the side of the server. */
	void cutSubscriptions() {
		query("""
				SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND query LIKE 'LISTEN%'""");
	}

	@Override
	public synchronized void close() {
		this.stores.forEach(SqlPolicyStore::close);
		this.stores.clear();
	}

}
