package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;

import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.control.Author;
import dev.ratelimit.control.StoreUnavailableException;
import dev.ratelimit.testing.PostgresServer;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Applications that share a database, with counters in memory.
 */
class SqlControlPlaneIntegrationTests {

	private static final Author ANN = new Author("ann", "because");

	@Test
	void writeOnOneInstanceIsEnforcedByTheOtherAndAfterARestart() {
		String database = PostgresServer.shared().newDatabase();
		on(database).run((one) -> {
			on(database).run((other) -> {
				join(ControlPlaneIntegrationTests.plane(one)
					.writePolicy("orders", ControlPlaneIntegrationTests.limits("77/h"), 0L, ANN));
				// At once if it listens already, else when it does.
				await().until(() -> ControlPlaneIntegrationTests.limit(other, "acme") == 77);
			});
			on(database).run((again) -> assertThat(ControlPlaneIntegrationTests.limit(again, "acme")).isEqualTo(77));
		});
	}

	@Test
	void storeThatIsEmptiedUnderRunningInstancesIsAnIncidentUntilItIsReseeded() {
		String database = PostgresServer.shared().newDatabase();
		on(database).run((one) -> on(database).run((other) -> {
			join(ControlPlaneIntegrationTests.plane(one)
				.writePolicy("orders", ControlPlaneIntegrationTests.limits("77/h"), 0L, ANN));
			await().until(() -> ControlPlaneIntegrationTests.limit(one, "acme") == 77
					&& ControlPlaneIntegrationTests.limit(other, "acme") == 77);
			PostgresServer.shared()
				.execute(database,
						"DELETE FROM ratelimit_record; DELETE FROM ratelimit_record_version; DELETE FROM ratelimit_audit; "
								+ "DELETE FROM ratelimit_store");
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> join(ControlPlaneIntegrationTests.plane(one)
					.writePolicy("orders", ControlPlaneIntegrationTests.limits("76/h"), null, ANN)))
				.withCauseInstanceOf(StoreUnavailableException.class);
			await().atMost(Duration.ofMinutes(1))
				.until(() -> ControlPlaneIntegrationTests.plane(one).state().incident() != null
						&& ControlPlaneIntegrationTests.plane(other).state().incident() != null);
			assertThat(ControlPlaneIntegrationTests.limit(one, "acme")).isEqualTo(77);
			assertThat(PostgresServer.shared().query(database, "SELECT id FROM ratelimit_record")).isEmpty();
			join(ControlPlaneIntegrationTests.plane(other).reseed(null, ANN));
			await().atMost(Duration.ofMinutes(1))
				.until(() -> !ControlPlaneIntegrationTests.plane(one).state().stale()
						&& !ControlPlaneIntegrationTests.plane(other).state().stale());
			join(ControlPlaneIntegrationTests.plane(one)
				.writePolicy("orders", ControlPlaneIntegrationTests.limits("78/h"), 1L, ANN));
			await().atMost(Duration.ofMinutes(1)).until(() -> ControlPlaneIntegrationTests.limit(other, "acme") == 78);
		}));
	}

	@Test
	void leaderOfARolloutJudgesByWhatAllInstancesCounted() {
		String database = PostgresServer.shared().newDatabase();
		on(database).run((one) -> on(database).run((other) -> {
			RolloutIntegrationTests.write(one, "1000/m", List.of(), "10m");
			RolloutIntegrationTests.write(one, "2/m", List.of(50, 100), "10m");
			await()
				.until(() -> RolloutIntegrationTests.version(one) == 2 && RolloutIntegrationTests.version(other) == 2);
			RolloutIntegrationTests.checkTenants(one, 0);
			RolloutIntegrationTests.checkTenants(other, 10);
			await().atMost(Duration.ofSeconds(30))
				.until(() -> RolloutIntegrationTests.version(one) == 3 && RolloutIntegrationTests.version(other) == 3);
			assertThat(RolloutIntegrationTests.history(other).get(0).reason())
				.startsWith("rolled back at 50 %: refuses 100.0 percentage points more");
		}));
	}

	private static ApplicationContextRunner on(String database) {
		return on(PostgresServer.shared(), database);
	}

	static ApplicationContextRunner on(PostgresServer server, String database) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class,
					RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class))
			.withBean(ConnectionFactory.class,
					() -> new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
						.host(server.host())
						.port(server.port())
						.username(PostgresServer.USER)
						.database(database)
						.build()))
			.withPropertyValues("ratelimit.policies-store.type=r2dbc",
					"ratelimit.policies.orders.limits.per-tenant.by=tenant",
					"ratelimit.policies.orders.limits.per-tenant.quota=10/h");
	}

}
