package dev.ratelimit.store.sql;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.store.AuditChainContract;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditPosition;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordKey.Kind;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

class SqlAuditIntegrationTests extends AuditChainContract {

	private final SqlStores stores = new SqlStores(PostgresServer.shared());

	/**
	 * Calls fail while the tables are being made, which is not what is looked at here.
	 */
	SqlAuditIntegrationTests() {
		SqlPolicyStore first = this.stores.open();
		Awaitility.await().ignoreExceptions().until(() -> first.changesSince(0, 1).toCompletableFuture().get() != null);
	}

	@AfterEach
	void closeStores() {
		this.stores.close();
	}

	@Override
	protected PolicyStore open() {
		return this.stores.openAtMost(3);
	}

	@Override
	protected void change(AuditPosition position, String reason) {
		this.stores
			.execute("UPDATE ratelimit_audit SET reason = '" + reason + "' WHERE entry = " + position.sequence());
	}

	@Override
	protected void remove(AuditPosition... positions) {
		Stream.of(positions)
			.forEach((position) -> this.stores
				.execute("DELETE FROM ratelimit_audit WHERE entry = " + position.sequence()));
	}

	@Override
	protected void addUnchained(String reason) {
		this.stores.execute("""
				INSERT INTO ratelimit_audit
				(happened_at, action, outcome, actor, target, value_before, value_after, reason)
				VALUES (clock_timestamp(), 'test', 'done', 'ann', '', '', '', '%s')""".formatted(reason));
	}

	@Override
	protected void forgetHead() {
		this.stores.execute("DELETE FROM ratelimit_audit_chain");
	}

	@Test
	void attemptThatIsSentAgainIsAddedOnce() {
		AuditRecord attempt = attempt("once");
		for (int i = 0; i < 3; i++) {
			retried(this.store, attempt);
			retried(open(), attempt);
		}
		assertThat(entries()).hasSize(1);
		assertThat(verify().broken()).isNull();
	}

	@Test
	void largeRemovalIsMadeInPartsAndTheTrailStaysIntact() {
		add(0, 2);
		this.stores.execute("""
				INSERT INTO ratelimit_audit
				(happened_at, action, outcome, actor, target, value_before, value_after, reason)
				SELECT TIMESTAMPTZ '2020-01-01 00:00:00Z' + i * INTERVAL '1 second', 'test', 'done', '', '', '', '', ''
				FROM generate_series(1, %d) AS i""".formatted(SqlAudit.MAX_REMOVED + 5));
		AuditPosition newest = entries().get(2).position();
		retriedRemoval(newest);
		assertThat(count()).isEqualTo(3 + 5);
		retriedRemoval(newest);
		assertThat(count()).isEqualTo(4);
		assertThat(verify().broken()).isNull();
	}

	@Test
	void writeDoesNotWaitForScansThatHang() {
		add(0, 1);
		this.stores.holding("LOCK TABLE ratelimit_audit IN ACCESS EXCLUSIVE MODE",
				() -> Awaitility.await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> {
					List<CompletableFuture<?>> scans = IntStream.range(0, 8)
						.<CompletableFuture<?>>mapToObj((i) -> this.store.scanAudit(null).toCompletableFuture())
						.toList();
					this.store
						.write(List.of(new Edit(new RecordKey(Kind.POLICY, "orders"), "1", null)), Seen.NOTHING, "ann",
								"")
						.toCompletableFuture()
						.get();
					return scans.stream().noneMatch(CompletableFuture::isDone);
				}));
	}

	@Test
	void verificationAndSearchForOldEntriesDoNotWaitForEachOther() {
		add(0, 1);
		this.stores.holding("LOCK TABLE ratelimit_audit IN ACCESS EXCLUSIVE MODE",
				() -> Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
					List<CompletableFuture<List<AuditEntry>>> scans = IntStream.range(0, 2)
						.mapToObj((i) -> this.store.scanAudit(null).toCompletableFuture())
						.toList();
					boolean both = false;
					while (!both && scans.stream().noneMatch(CompletableFuture::isDone)) {
						both = this.stores.query("""
								SELECT pid FROM pg_stat_activity WHERE datname = current_database()
								AND wait_event_type = 'Lock' AND query LIKE '%FROM ratelimit_audit WHERE%'""")
							.size() == 2;
					}
					return both;
				}));
	}

	private void retriedRemoval(AuditPosition newest) {
		AuditRecord attempt = attempt("removal");
		Awaitility.await()
			.ignoreExceptions()
			.until(() -> this.store.audit(attempt, newest).thenApply((done) -> true).toCompletableFuture().get());
	}

	private long count() {
		return Long.parseLong(this.stores.query("SELECT count(*) FROM ratelimit_audit").get(0));
	}

}
