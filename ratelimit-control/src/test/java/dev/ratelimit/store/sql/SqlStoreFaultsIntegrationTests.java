package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.AuditScan;
import dev.ratelimit.store.Changes;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.PostgresServer;
import dev.ratelimit.testing.Within;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A database that dies, freezes and comes back.
 */
@ExtendWith(OutputCaptureExtension.class)
@SuppressWarnings("try")
class SqlStoreFaultsIntegrationTests {

	private static final List<RecordKey> KEYS = List.of(new RecordKey(Kind.POLICY, "orders"),
			new RecordKey(Kind.OVERRIDE, "orders/tenant/acme"), new RecordKey(Kind.TIER, "tenant/acme"));

	/** What is promised is about a second; the rest is the machine's. */
	private static final Duration SOON = Duration.ofMillis(2_500);

	private final PostgresServer server = PostgresServer.start();

	private final SqlStores stores = new SqlStores(this.server);

	@AfterEach
	void close() {
		this.stores.close();
		this.server.close();
	}

	@Test
	void databaseKilledInTheMiddleOfWritesHasEachOfThemWholeOrNotAtAll() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(2);
		List<RecordVersion> acknowledged = new CopyOnWriteArrayList<>();
		List<SqlPolicyStore> writers = List.of(this.stores.open(), this.stores.open());
		try {
			for (int round = 0; round < 3; round++) {
				int before = acknowledged.size();
				AtomicBoolean killed = new AtomicBoolean();
				List<Future<?>> running = writers.stream()
					.<Future<?>>map((store) -> threads.submit(() -> writeUntilItIsKilled(store, acknowledged, killed)))
					.toList();
				soon().until(() -> acknowledged.size() > before + 60);
				this.server.kill();
				killed.set(true);
				for (Future<?> writer : running) {
					writer.get(30, TimeUnit.SECONDS);
				}
				this.server.restart();
				SqlPolicyStore fresh = this.stores.open();
				Changes changes = soon().ignoreExceptions()
					.until(() -> join(fresh.changesSince(0, 10)), (read) -> true);
				assertThat(changes.versions()).hasSize(KEYS.size());
				assertThat(changes.versions()).extracting(RecordVersion::body).containsOnly(body(changes));
				for (RecordKey key : KEYS) {
					List<RecordVersion> history = soon().ignoreExceptions()
						.until(() -> join(fresh.history(key, 100_000)), (read) -> true);
					// Until the server is gone, more may be written than is kept.
					long newest = history.get(0).version();
					long oldest = Math.max(1, newest - PolicyStore.KEPT_VERSIONS + 1);
					assertThat(history).extracting(RecordVersion::version)
						.containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(oldest, newest).boxed().toList());
					assertThat(history).containsAll(ofKey(acknowledged, key, oldest));
				}
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void storeGoesOnWithADatabaseThatCameBack() {
		SqlPolicyStore store = this.stores.open();
		write(store, "1");
		this.server.kill();
		failsSoon(store.write(edits("2"), Seen.NOTHING, "ann", ""));
		this.server.restart();
		soon().ignoreExceptions().until(() -> write(store, "3").get(0).version() == 2);
	}

	@Test
	void auditEntriesOfADatabaseThatWasStoppedOrFrozenAreAddedOnceWhenTheyAreSentAgain() {
		SqlPolicyStore store = this.stores.open();
		write(store, "1");
		AuditRecord stopped = SqlStoreDocs.entry();
		this.server.kill();
		failsSoon(store.audit(stopped, null));
		this.server.restart();
		soon().ignoreExceptions().until(() -> added(store, stopped));
		AuditRecord frozen = SqlStoreDocs.entry();
		this.server.freeze();
		failsSoon(store.audit(frozen, null));
		failsSoon(store.audit(frozen, null));
		this.server.thaw();
		soon().ignoreExceptions().until(() -> added(store, frozen));
		soon().ignoreExceptions().until(() -> added(store, stopped));
		assertThat(join(store.audit(null, 10))).extracting((entry) -> entry.attempt().id())
			.containsExactly(frozen.id(), stopped.id());
		assertThat(join(new AuditScan(store, System::nanoTime).verify(Duration.ofMinutes(1))).broken()).isNull();
	}

	@Test
	void storeThatWasOpenedWithoutADatabaseWorksWhenItIsThere() {
		this.server.kill();
		SqlPolicyStore store = this.stores.open();
		failsSoon(store.changesSince(0, 10));
		failsSoon(store.lead("task", "one", Duration.ofSeconds(1)));
		this.server.restart();
		soon().ignoreExceptions().until(() -> write(store, "1").get(0).version() == 1);
	}

	@Test
	void storeIsClosedWhileItsDatabaseIsFrozen() {
		write(this.stores.open(), "1");
		this.server.freeze();
		long start = Pauses.now();
		this.stores.close();
		assertThat(Pauses.without(start)).isLessThan(SOON);
	}

	@Test
	void frozenDatabaseFailsEveryCallInTimeAndIsUsedAgainWhenItGoesOn() {
		SqlPolicyStore store = this.stores.open();
		write(store, "1");
		this.server.freeze();
		for (int i = 0; i < 6; i++) {
			failsSoon(store.write(edits("2"), Seen.NOTHING, "ann", ""));
		}
		failsSoon(store.changesSince(0, 10));
		this.server.thaw();
		soon().ignoreExceptions().until(() -> !write(store, "3").isEmpty());
		// Seven calls were cut off. A leak of their connections fills the pool of four; a
		// slow machine may need a second try, and so a second connection.
		soon().until(() -> Integer.parseInt(this.stores.query("""
				SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
				AND pid <> pg_backend_pid()""").get(0)) < 4);
	}

	@Test
	void subscriptionSurvivesARestartOfTheDatabase() throws Exception {
		SqlPolicyStore store = this.stores.open();
		List<Long> told = new CopyOnWriteArrayList<>();
		try (AutoCloseable subscription = store.subscribe(told::add)) {
			soon().until(() -> told.contains(0L));
			this.server.kill();
			told.clear();
			this.server.restart();
			soon().until(() -> told.contains(0L));
			long revision = write(this.stores.open(), "1").get(2).revision();
			Within.seconds(3).until(() -> told.contains(revision));
		}
	}

	@Test
	void subscriptionToADatabaseThatFrozeIsMadeAnew(CapturedOutput output) throws Exception {
		List<Long> told = new CopyOnWriteArrayList<>();
		try (AutoCloseable subscription = this.stores.open().subscribe(told::add)) {
			soon().until(() -> told.contains(0L));
			told.clear();
			this.server.freeze();
			soon().until(() -> output.getOut().contains("No notifications"));
			this.server.thaw();
			soon().until(() -> told.contains(0L));
		}
	}

	private static void writeUntilItIsKilled(SqlPolicyStore store, List<RecordVersion> acknowledged,
			AtomicBoolean killed) {
		for (int i = 0; !killed.get(); i++) {
			try {
				acknowledged.addAll(write(store, Thread.currentThread().getId() + "/" + i));
			}
			catch (CompletionException ex) {
				// Killed, or late on a busy machine.
				Thread.yield();
			}
		}
	}

	private static boolean added(SqlPolicyStore store, AuditRecord entry) {
		join(store.audit(entry, null));
		return true;
	}

	private static String body(Changes changes) {
		return changes.versions().get(0).body();
	}

	private static List<RecordVersion> ofKey(List<RecordVersion> versions, RecordKey key, long oldest) {
		return versions.stream()
			.filter((version) -> version.key().equals(key))
			.filter((version) -> version.version() >= oldest)
			.toList();
	}

	private static List<RecordVersion> write(SqlPolicyStore store, String body) {
		return join(store.write(edits(body), Seen.NOTHING, "ann", "because"));
	}

	private static List<Edit> edits(String body) {
		return KEYS.stream().map((key) -> new Edit(key, body, null)).toList();
	}

	private static void failsSoon(CompletionStage<?> stage) {
		long start = Pauses.now();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(stage));
		assertThat(Pauses.without(start)).isLessThan(SOON);
	}

	private static ConditionFactory soon() {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(30))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(10));
	}

}
