package dev.ratelimit.store.sql;

import java.util.List;
import java.util.stream.IntStream;

import io.r2dbc.spi.R2dbcException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.PostgresServer;

import static dev.ratelimit.testing.Stages.join;
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
		join(this.stores.open().changesSince(0, 1));
		assertThat(this.stores.query(TABLES)).containsExactly("ratelimit_audit", "ratelimit_audit_chain",
				"ratelimit_leader", "ratelimit_record", "ratelimit_record_version", "ratelimit_schema",
				"ratelimit_store", "ratelimit_sum");
		assertThat(this.stores.query(APPLIED)).containsExactly("V1__records.sql", "V2__sums.sql", "V3__audit_chain.sql",
				"V4__forgotten.sql");
	}

	@Test
	void tablesOfTheVersionBeforeGetWhatIsNew() {
		join(this.stores.open().write(EDITS, Seen.NOTHING, "ann", "because"));
		this.stores
			.execute("DELETE FROM ratelimit_schema WHERE version > 1; DROP TABLE ratelimit_sum, ratelimit_audit_chain; "
					+ "ALTER TABLE ratelimit_store DROP COLUMN forgotten_revision, DROP COLUMN forgotten_version");
		this.stores.execute("""
				ALTER TABLE ratelimit_audit DROP COLUMN entry_id, DROP COLUMN attempted_at, DROP COLUMN chain_number,
				DROP COLUMN previous_hash, DROP COLUMN hash""");
		this.stores.execute("""
				INSERT INTO ratelimit_audit
				(happened_at, action, outcome, actor, target, value_before, value_after, reason)
				VALUES (now(), 'test', 'done', 'ann', '', '', '', 'before')""");
		SqlPolicyStore updated = this.stores.open();
		assertThat(join(updated.changesSince(0, 1)).versions()).hasSize(1);
		assertThat(join(updated.add("orders:1", List.of(1L)))).containsExactly(1L);
		join(updated.audit(SqlStoreDocs.entry(), null));
		assertThat(join(updated.audit(null, 10))).extracting((entry) -> entry.attempt().reason())
			.containsExactly("because", "before");
		assertThat(this.stores.query(APPLIED)).containsExactly("V1__records.sql", "V2__sums.sql", "V3__audit_chain.sql",
				"V4__forgotten.sql");
	}

	@Test
	void instancesThatStartAtOnceMakeTheTablesTogether() {
		for (int round = 0; round < 5; round++) {
			List<SqlPolicyStore> fleet = IntStream.range(0, 8).mapToObj((i) -> this.stores.open()).toList();
			fleet.forEach((store) -> store.changesSince(0, 1));
			Awaitility.await()
				.ignoreExceptions()
				.until(() -> fleet.stream().allMatch((store) -> join(store.changesSince(0, 1)).revision() == 0));
			assertThat(this.stores.query(APPLIED)).containsExactly("V1__records.sql", "V2__sums.sql",
					"V3__audit_chain.sql", "V4__forgotten.sql");
			this.stores.close();
			this.stores.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
		}
	}

	@Test
	void migrationThatWasCutOffIsFinished() {
		join(this.stores.open().changesSince(0, 1));
		this.stores.execute("DELETE FROM ratelimit_schema; DROP TABLE ratelimit_record_version, ratelimit_audit");
		assertThat(join(this.stores.open().write(EDITS, Seen.NOTHING, "ann", "because"))).hasSize(1);
		assertThat(this.stores.query(APPLIED)).containsExactly("V1__records.sql", "V2__sums.sql", "V3__audit_chain.sql",
				"V4__forgotten.sql");
	}

	@Test
	void databaseThatIsAheadIsUsedAsItIs() {
		join(this.stores.open().write(EDITS, Seen.NOTHING, "ann", "because"));
		this.stores.execute("INSERT INTO ratelimit_schema (version, name) VALUES (1000, 'V1000__later.sql')");
		assertThat(join(this.stores.open().changesSince(0, 1)).versions()).hasSize(1);
	}

	@Test
	void databaseThatWasMadeAnewIsAnEmptyStore() {
		SqlPolicyStore store = this.stores.open();
		join(store.write(EDITS, Seen.NOTHING, "ann", "because"));
		this.stores.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
		assertThatThrownBy(() -> join(store.changesSince(0, 1))).hasCauseInstanceOf(R2dbcException.class);
		assertThat(join(store.changesSince(0, 1))).isEqualTo(new Changes("", 0, List.of()));
	}

	@Test
	void rightsOfTheDocumentationAreEnough() {
		join(this.stores.open().changesSince(0, 1));
		String user = "reader" + ProcessHandle.current().pid();
		this.stores.execute(SqlStoreDocs.grants(user));
		SqlPolicyStore restricted = this.stores.openAs(user);
		assertThat(join(restricted.write(EDITS, Seen.NOTHING, "ann", "because"))).hasSize(1);
		List<RecordVersion> versions = join(restricted.changesSince(0, 1)).versions();
		assertThat(versions).hasSize(1);
		join(restricted.restore("restored", 0, 0, versions));
		for (int i = 0; i < PolicyStore.KEPT_VERSIONS; i++) {
			join(restricted.write(List.of(new Edit(versions.get(0).key(), "2", null)), Seen.NOTHING, "ann", ""));
		}
		List<RecordVersion> deleted = join(
				restricted.write(List.of(new Edit(versions.get(0).key(), null, null)), Seen.NOTHING, "ann", ""));
		join(restricted.forget(deleted, new Seen("restored", 1)));
		assertThat(join(restricted.changesSince(0, 1)).versions()).isEmpty();
		join(restricted.audit(SqlStoreDocs.entry(), null));
		join(restricted.audit(SqlStoreDocs.entry(), join(restricted.audit(null, 1)).get(0).position()));
		assertThat(join(restricted.auditHead()).number()).isEqualTo(2);
		assertThat(join(restricted.audit(null, 1))).hasSize(1);
		assertThat(join(restricted.add("orders:1", List.of(1L)))).containsExactly(1L);
		assertThat(join(restricted.add("orders:1", List.of(1L)))).containsExactly(2L);
		assertThat(join(restricted.lead("task", "one", Database.DEADLINE))).isPresent();
		assertThat(join(restricted.lead("task", "one", Database.DEADLINE))).isPresent();
	}

	@Test
	void withoutTheRightToMakeTablesACallFailsAndSaysSo() {
		String user = "nobody" + ProcessHandle.current().pid();
		this.stores.execute("CREATE ROLE " + user + " LOGIN");
		assertThatThrownBy(() -> join(this.stores.openAs(user).changesSince(0, 1)))
			.hasCauseInstanceOf(R2dbcException.class)
			.hasMessageContaining("permission denied");
	}

}
