package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.PostgresServer;
import dev.ratelimit.testing.Stages;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Deadlines, bounds and repetitions on a database that is well. What CockroachDB does
 * differently is here as far as PostgreSQL can be made to do it.
 */
@SuppressWarnings("try")
class DatabaseIntegrationTests {

	/** Fails the first inserts of versions; a sequence is not rolled back. */
	private static final String FAIL_FIRST = """
			CREATE SEQUENCE attempts;
			CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF nextval('attempts') <= %d THEN RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001'; END IF;
				RETURN NEW;
			END $$;
			CREATE TRIGGER fail BEFORE INSERT ON ratelimit_record_version FOR EACH ROW EXECUTE FUNCTION fail()""";

	/** Without those of the server itself, such as a worker of autovacuum. */
	private static final String OWN_CONNECTIONS = """
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND backend_type = 'client backend'""";

	private final SqlStores stores = new SqlStores(PostgresServer.shared());

	private final SqlPolicyStore store = this.stores.open();

	@AfterEach
	void closeStores() {
		this.stores.close();
	}

	@Test
	void serializationFailuresAreTriedAgain() {
		write("1");
		this.stores.execute(FAIL_FIRST.formatted(3));
		assertThat(write("2").version()).isEqualTo(2);
		assertThat(join(this.store.changesSince(0, 10)).revision()).isEqualTo(2);
	}

	@Test
	void serializationFailuresThatDoNotEndFailTheWriteInTime() {
		write("1");
		this.stores.execute(FAIL_FIRST.formatted(1_000));
		failsInTime(() -> write("2"));
		assertThat(join(this.store.changesSince(0, 10)).revision()).isEqualTo(1);
		assertThat(this.stores.query("SELECT last_value < 50 FROM attempts")).containsExactly("t");
	}

	@Test
	void writerThatIsHeldUpFailsInTimeAndChangesNothing() {
		write("1");
		this.stores.holding("UPDATE ratelimit_store SET revision = revision", () -> failsInTime(() -> write("2")));
		assertThat(write("3").version()).isEqualTo(2);
	}

	@Test
	void manyCallsAtOnceShareFourConnections() {
		write("0");
		// Calls may be answered sooner than a second connection is made.
		Awaitility.await().until(() -> {
			List<CompletableFuture<Changes>> calls = IntStream.range(0, 40)
				.mapToObj((i) -> this.store.changesSince(0, 10).toCompletableFuture())
				.toList();
			calls.forEach(Stages::join);
			int connections = Integer.parseInt(this.stores.query(OWN_CONNECTIONS).get(0));
			assertThat(connections).isLessThanOrEqualTo(4);
			return connections > 1;
		});
	}

	@Test
	void poolOfTheApplicationIsNotUsedUp() {
		ConnectionPool pool = new ConnectionPool(
				ConnectionPoolConfiguration.builder(this.stores.factory(PostgresServer.USER)).maxSize(1).build());
		try (SqlPolicyStore sharing = new SqlPolicyStore(pool)) {
			join(Flux
				.usingWhen(pool.create(), (busy) -> Mono.fromCompletionStage(sharing.changesSince(0, 10)),
						Connection::close)
				.next()
				.toFuture());
		}
		finally {
			pool.dispose();
		}
	}

	@Test
	void serverEndsWhatAVanishedInstanceLeftBehind() {
		Database database = new Database(this.stores.factory(PostgresServer.USER), 4);
		for (String setting : List.of("statement_timeout", "idle_in_transaction_session_timeout")) {
			assertThat(join(database
				.run((session) -> session.rows("SHOW " + setting, (row) -> row.get(0, String.class)).single())
				.toFuture())).isEqualTo("5s");
		}
		database.close();
	}

	@Test
	void refusedTextFailsTheWriteAndLeavesTheStoreUsable() {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> write("not in a text: \0"))
			.withCauseInstanceOf(R2dbcException.class);
		assertThat(write("1").revision()).isEqualTo(1);
	}

	@Test
	void withoutNotificationsWritesAreFoundByAskingOnly() throws Exception {
		this.stores.execute("""
				CREATE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$ SELECT 'CockroachDB CCL v24.3.1' $$;
				CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS $$ SELECT 1 / 0 $$""");
		this.stores.execute(
				"ALTER ROLE postgres IN DATABASE " + this.stores.database() + " SET search_path = public, pg_catalog");
		List<Long> told = new CopyOnWriteArrayList<>();
		try (AutoCloseable subscription = this.store.subscribe(told::add)) {
			long revision = write("1").revision();
			assertThat(join(this.stores.open().changesSince(0, 10)).revision()).isEqualTo(revision);
			Awaitility.await().during(Duration.ofMillis(300)).until(told::isEmpty);
		}
	}

	private RecordVersion write(String body) {
		Edit edit = new Edit(new RecordKey(RecordKey.Kind.POLICY, "orders"), body, null);
		return join(this.store.write(List.of(edit), Seen.NOTHING, "ann", "because")).get(0);
	}

	private static void failsInTime(Runnable call) {
		long start = Pauses.now();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(call::run);
		assertThat(Pauses.without(start)).isLessThan(Duration.ofMillis(2_500));
	}

}
