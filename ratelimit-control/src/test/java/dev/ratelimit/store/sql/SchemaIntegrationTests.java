package dev.ratelimit.store.sql;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.r2dbc.spi.R2dbcException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.testing.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SchemaIntegrationTests {

	private static final String TABLES = """
			SELECT table_name FROM information_schema.tables
			WHERE table_schema = 'public' ORDER BY table_name""";

	private static final String APPLIED = "SELECT name FROM ratelimit_schema ORDER BY version";

	private static final List<Edit> EDITS = List.of(new Edit(new RecordKey(RecordKey.Kind.POLICY, "orders"), "1", 0L));

	private final SqlStores stores = new SqlStores(PostgresServer.shared());

	@AfterEach
	void closeStores() {
		this.stores.close();
	}

	@Test
	void firstCallMakesTheTables() {
		done(this.stores.open().changesSince(0, 1));
		assertThat(this.stores.query(TABLES)).containsExactly("ratelimit_audit", "ratelimit_leader", "ratelimit_record",
				"ratelimit_record_version", "ratelimit_schema", "ratelimit_store", "ratelimit_sum");
		assertThat(this.stores.query(APPLIED)).containsExactly("V1__records.sql", "V2__sums.sql");
	}

	@Test
	void tablesOfTheVersionBeforeGetWhatIsNew() {
		done(this.stores.open().write(EDITS, "ann", "because"));
		this.stores.execute("DELETE FROM ratelimit_schema WHERE version > 1; DROP TABLE ratelimit_sum");
		SqlPolicyStore updated = this.stores.open();
		assertThat(done(updated.changesSince(0, 1)).versions()).hasSize(1);
		assertThat(done(updated.sums().add("orders:1", List.of(1L)))).containsExactly(1L);
		assertThat(this.stores.query(APPLIED)).containsExactly("V1__records.sql", "V2__sums.sql");
	}

	@Test
	void instancesThatStartAtOnceMakeTheTablesTogether() {
		for (int round = 0; round < 5; round++) {
			List<SqlPolicyStore> fleet = IntStream.range(0, 8).mapToObj((i) -> this.stores.open()).toList();
			fleet.forEach((store) -> store.changesSince(0, 1));
			Awaitility.await()
				.ignoreExceptions()
				.until(() -> fleet.stream().allMatch((store) -> done(store.changesSince(0, 1)).revision() == 0));
			assertThat(this.stores.query(APPLIED)).containsExactly("V1__records.sql", "V2__sums.sql");
			this.stores.close();
			this.stores.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
		}
	}

	@Test
	void migrationThatWasCutOffIsFinished() {
		done(this.stores.open().changesSince(0, 1));
		this.stores.execute("DELETE FROM ratelimit_schema; DROP TABLE ratelimit_record_version, ratelimit_audit");
		assertThat(done(this.stores.open().write(EDITS, "ann", "because"))).hasSize(1);
		assertThat(this.stores.query(APPLIED)).containsExactly("V1__records.sql", "V2__sums.sql");
	}

	@Test
	void databaseThatIsAheadIsUsedAsItIs() {
		done(this.stores.open().write(EDITS, "ann", "because"));
		this.stores.execute("INSERT INTO ratelimit_schema (version, name) VALUES (1000, 'V1000__later.sql')");
		assertThat(done(this.stores.open().changesSince(0, 1)).versions()).hasSize(1);
	}

	@Test
	void databaseThatWasMadeAnewIsAnEmptyStore() {
		SqlPolicyStore store = this.stores.open();
		done(store.write(EDITS, "ann", "because"));
		this.stores.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
		assertThatThrownBy(() -> done(store.changesSince(0, 1))).hasCauseInstanceOf(R2dbcException.class);
		assertThat(done(store.changesSince(0, 1))).isEqualTo(new Changes("", 0, List.of()));
	}

	@Test
	void rightsOfTheDocumentationAreEnough() {
		done(this.stores.open().changesSince(0, 1));
		String user = "reader" + ProcessHandle.current().pid();
		this.stores.execute(SqlStoreDocs.grants(user));
		SqlPolicyStore restricted = this.stores.openAs(user);
		assertThat(done(restricted.write(EDITS, "ann", "because"))).hasSize(1);
		assertThat(done(restricted.changesSince(0, 1)).versions()).hasSize(1);
		done(restricted.audit(SqlStoreDocs.entry()));
		assertThat(done(restricted.audit(null, 1))).hasSize(1);
		assertThat(done(restricted.sums().add("orders:1", List.of(1L)))).containsExactly(1L);
		assertThat(done(restricted.sums().add("orders:1", List.of(1L)))).containsExactly(2L);
		assertThat(done(restricted.lead("task", "one", Database.DEADLINE))).isTrue();
		assertThat(done(restricted.lead("task", "one", Database.DEADLINE))).isTrue();
	}

	@Test
	void withoutTheRightToMakeTablesACallFailsAndSaysSo() {
		String user = "nobody" + ProcessHandle.current().pid();
		this.stores.execute("CREATE ROLE " + user + " LOGIN");
		assertThatThrownBy(() -> done(this.stores.openAs(user).changesSince(0, 1)))
			.hasCauseInstanceOf(R2dbcException.class)
			.hasMessageContaining("permission denied");
	}

	private static <T> T done(CompletionStage<T> stage) {
		return stage.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
	}

}
