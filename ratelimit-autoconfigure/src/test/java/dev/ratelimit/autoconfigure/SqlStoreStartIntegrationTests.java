package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.testing.PostgresServer;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that starts while its database is away.
 */
class SqlStoreStartIntegrationTests {

	private volatile ConfigurableApplicationContext context;

	@Test
	void startWaitsForADatabaseThatIsStopped() throws Exception {
		try (PostgresServer server = PostgresServer.start()) {
			String database = server.newDatabase();
			try (ConfigurableApplicationContext first = start(server, database)) {
				join(first.getBean(ControlPlane.class)
					.writePolicy("extra", ControlPlaneIntegrationTests.limits("5/h"), null,
							new Author("ann", "because")));
			}
			server.kill();
			CompletableFuture<ConfigurableApplicationContext> late = CompletableFuture
				.supplyAsync(() -> start(server, database), (task) -> new Thread(task, "start").start());
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> this.context.isRunning() && this.context.getBean(ControlPlane.class).state().missing());
			assertThat(late).isNotDone();
			server.restart();
			try (ConfigurableApplicationContext ready = late.get(1, TimeUnit.MINUTES)) {
				assertThat(ready.getBean(Policies.class).get().ids()).contains("extra");
			}
		}
	}

	private ConfigurableApplicationContext start(PostgresServer server, String database) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).initializers((context) -> {
			((GenericApplicationContext) context).registerBean(ConnectionFactory.class,
					() -> factory(server, database));
			this.context = context;
		}).run("--ratelimit.policies-store.type=r2dbc", "--ratelimit.policies-store.start-timeout=10m");
	}

	private static ConnectionFactory factory(PostgresServer server, String database) {
		return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
			.host(server.host())
			.port(server.port())
			.username(PostgresServer.USER)
			.database(database)
			.build());
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RateLimitAutoConfiguration.class, RateLimitStoreAutoConfiguration.class,
			RateLimitControlAutoConfiguration.class })
	static class Application {

	}

}
