package dev.ratelimit.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.reactive.ReactiveManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.testing.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The endpoint of applications that share a database.
 */
class SqlEndpointIntegrationTests {

	private static final String LIMITS = "\"limits\": {\"per-tenant\": {\"by\": \"tenant\", \"quota\": \"77/h\"}}";

	private final String database = PostgresServer.shared().newDatabase();

	private final ReactiveWebApplicationContextRunner context = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(HttpHandlerAutoConfiguration.class, JacksonAutoConfiguration.class,
				CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, EndpointAutoConfiguration.class,
				WebEndpointAutoConfiguration.class, ReactiveManagementContextAutoConfiguration.class,
				ManagementContextAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class,
				ReactiveSecurityAutoConfiguration.class))
		.withUserConfiguration(SwitchWebFluxTests.Security.class)
		.withBean(ConnectionFactory.class, this::connections)
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED", "ratelimit.policies-store.type=r2dbc",
				"ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=10/h");

	@Test
	void trailIsTheFleetsAndOutlivesIt() {
		this.context.run((one) -> this.context.run((other) -> {
			assertThat(write(one, "bob", "{\"policy\": {" + LIMITS + "}}")).isEqualTo(403);
			assertThat(write(one, "ann", "{\"policy\": {" + LIMITS + "}, \"reason\": \"INC-7\"}")).isEqualTo(200);
			await().atMost(Duration.ofSeconds(30)).until(() -> entries(audit(other, "")).size() == 2);
			assertTrail(audit(other, ""));
		}));
		this.context.run((again) -> assertTrail(audit(again, "")));
	}

	@Test
	void pagesOfOneTimeLeaveOutNothing() {
		this.context.run((context) -> {
			Instant time = Instant.now();
			for (int i = 0; i < 5; i++) {
				AuditRecord entry = AuditRecord.of(time, "test", "done", "ann", "", "", "", "reason " + i);
				context.getBean(PolicyStore.class).audit(entry, null).toCompletableFuture().join();
			}
			List<Object> reasons = new ArrayList<>();
			Map<String, Object> page = audit(context, "?limit=2");
			for (int i = 0; i < 3; i++) {
				entries(page).forEach((entry) -> reasons.add(entry.get("reason")));
				page = page.containsKey("before") ? audit(context, "?limit=2&before=" + page.get("before")) : Map.of();
			}
			assertThat(page).isEmpty();
			assertThat(reasons).containsExactly("reason 4", "reason 3", "reason 2", "reason 1", "reason 0");
			assertThat(entries(audit(context, "?before=" + time))).isEmpty();
			assertThat(entries(audit(context, "?before=" + time.plusSeconds(600)))).hasSize(5);
		});
	}

	@Test
	void verificationNamesTheFirstBrokenEntry() {
		this.context.run((context) -> {
			for (int i = 0; i < 3; i++) {
				assertThat(write(context, "ann", "{\"policy\": {" + LIMITS + "}, \"reason\": \"INC-" + i + "\"}"))
					.isEqualTo(200);
			}
			await().atMost(Duration.ofSeconds(30)).until(() -> entries(audit(context, "")).size() == 3);
			assertThat(audit(context, "?verify=true")).containsEntry("result", "intact").containsEntry("entries", 3);
			PostgresServer.shared()
				.execute(this.database, "UPDATE ratelimit_audit SET actor = 'eve' WHERE reason = 'INC-1'");
			assertThat(audit(context, "?verify=true")).containsEntry("result", "broken")
				.hasEntrySatisfying("broken",
						(broken) -> assertThat(broken).asString().contains("number=2").contains("actor=eve"));
		});
	}

	@Test
	void rolloutIsCountedByTheFleet() {
		this.context.run((context) -> {
			write(context, "ann",
					"{\"policy\": {\"rollout\": {\"stages\": [1, 100], \"hold\": \"1h\"}, " + LIMITS + "}}");
			await().atMost(Duration.ofSeconds(30))
				.until(() -> read(context, "policies/orders").contains("\"counted\":\"fleet\""));
		});
	}

	private static void assertTrail(Map<String, Object> trail) {
		assertThat(trail).containsEntry("source", "store").doesNotContainKey("lost");
		List<Map<String, Object>> entries = entries(trail);
		assertThat(entries).extracting((entry) -> entry.get("outcome")).containsExactly("done", "refused");
		assertThat(entries).extracting((entry) -> entry.get("actor")).containsExactly("ann", "bob");
		assertThat(entries.get(0)).containsEntry("action", "policy-write").containsEntry("reason", "INC-7");
	}

	private static Map<String, Object> audit(ApplicationContext context, String query) {
		return client(context).get()
			.uri("/actuator/ratelimit/audit" + query)
			.headers((headers) -> headers.setBasicAuth("vic", "secret"))
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(new ParameterizedTypeReference<Map<String, Object>>() {
			})
			.returnResult()
			.getResponseBody();
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> entries(Map<String, Object> trail) {
		return (List<Map<String, Object>>) trail.get("entries");
	}

	private static int write(ApplicationContext context, String user, String body) {
		return client(context).post()
			.uri("/actuator/ratelimit/policies/orders")
			.headers((headers) -> headers.setBasicAuth(user, "secret"))
			.contentType(MediaType.APPLICATION_JSON)
			.bodyValue(body)
			.exchange()
			.returnResult(String.class)
			.getStatus()
			.value();
	}

	private static String read(ApplicationContext context, String path) {
		return String.valueOf(client(context).get()
			.uri("/actuator/ratelimit/" + path)
			.headers((headers) -> headers.setBasicAuth("vic", "secret"))
			.exchange()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody());
	}

	private static WebTestClient client(ApplicationContext context) {
		return WebTestClient.bindToApplicationContext(context)
			.configureClient()
			.responseTimeout(Duration.ofSeconds(20))
			.build();
	}

	private ConnectionFactory connections() {
		return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
			.host(PostgresServer.shared().host())
			.port(PostgresServer.shared().port())
			.username(PostgresServer.USER)
			.database(this.database)
			.build());
	}

}
