package dev.ratelimit.admin;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.sql.SqlPolicyStore;
import dev.ratelimit.testing.PostgresServer;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A user of PostgreSQL with the rights of an earlier release, who may not delete entries.
 */
@ExtendWith(OutputCaptureExtension.class)
class AuditSqlRightsIntegrationTests {

	private final PostgresServer server = PostgresServer.shared();

	private final String database = this.server.newDatabase();

	@Test
	void removalWithoutTheRightIsReportedAndDoesNotHoldUpOtherEntries(CapturedOutput output) {
		String user = "keeper" + ProcessHandle.current().pid();
		try (SqlPolicyStore owner = store(PostgresServer.USER)) {
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.ignoreExceptions()
				.until(() -> owner.auditHead().toCompletableFuture().get() != null);
			this.server.execute(this.database, """
					CREATE ROLE %1$s LOGIN;
					GRANT SELECT ON ratelimit_schema TO %1$s;
					GRANT SELECT, INSERT ON ratelimit_audit TO %1$s;
					GRANT SELECT, INSERT, UPDATE ON ratelimit_audit_chain TO %1$s""".formatted(user));
		}
		try (SqlPolicyStore store = store(user); AuditTrail trail = new AuditTrail(store)) {
			trail.start();
			trail.append(entry("first"), null, null);
			List<AuditEntry> first = Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.ignoreExceptions()
				.until(() -> join(store.audit(null, 10)), (entries) -> entries.size() == 1);
			trail.append(entry("removal"), first.get(0).position(), null);
			trail.append(entry("second"), null, null);
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.ignoreExceptions()
				.untilAsserted(
						() -> assertThat(join(store.audit(null, 10))).extracting((entry) -> entry.attempt().reason())
							.containsExactly("second", "first"));
			assertThat(output).contains("Old entries of the audit trail were not removed (permission denied");
			assertThat(trail.lost()).isZero();
		}
	}

	private SqlPolicyStore store(String user) {
		return new SqlPolicyStore(new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
			.host(this.server.host())
			.port(this.server.port())
			.username(user)
			.database(this.database)
			.build()));
	}

	private static AuditRecord entry(String reason) {
		return AuditRecord.of(Instant.now(), "test", "done", "ann", "", "", "", reason);
	}

}
