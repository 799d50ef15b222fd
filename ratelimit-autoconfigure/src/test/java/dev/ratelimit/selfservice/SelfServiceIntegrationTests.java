package dev.ratelimit.selfservice;

import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.ApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.admin.WebStack;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.control.RecordIds;
import dev.ratelimit.store.AuditEntry;
import dev.ratelimit.store.AuditRecord;
import dev.ratelimit.store.Edit;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.Seen;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Stages;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a tenant's administrator may do, on both stacks, and with and without the actuator
 * on the class path.
 */
@ExtendWith(RedisServers.class)
class SelfServiceIntegrationTests {

	private static final String ADMIN = "ann/acme/RATELIMIT_TENANT_ADMIN";

	private static final String TIGHTER = "{\"policy\": \"orders\", \"limits\": {\"per-tenant\": \"500/m\"}, \"reason\": \"cost\"}";

	@ParameterizedTest
	@CsvSource({ "REACTIVE, true", "REACTIVE, false", "SERVLET, true", "SERVLET, false" })
	void tenantsAdministratorTightensLooksAndLetsGo(WebStack stack, boolean actuator, RedisServer redis) {
		String[] properties = properties(redis);
		stack.run(actuator, properties, (one, client) -> stack.run(actuator, properties, (other, otherClient) -> {
			patch(client, ADMIN, TIGHTER).expectStatus()
				.isOk()
				.expectBody()
				.json("{\"policy\": \"orders\", \"granted\": {\"per-tenant\": [\"10000/m\"]}, "
						+ "\"own\": {\"per-tenant\": [\"500/m\"]}}");
			Within.seconds(3).until(() -> limit(other) == 500);
			otherClient.get()
				.uri("/ratelimit/tenants/me/usage")
				.headers((headers) -> headers.setBearerAuth(ADMIN))
				.exchange()
				.expectStatus()
				.isOk()
				.expectBody()
				.json("{\"tenant\": \"acme\", \"policies\": [{\"policy\": \"orders\", \"limits\": [{\"limit\": "
						+ "\"per-tenant\", \"granted\": [\"10000/m\"], \"quotas\": [{\"limit\": 500, \"used\": 0}]}]}]}");
			patch(otherClient, ADMIN, "{\"policy\": \"orders\", \"limits\": {\"per-tenant\": null}}").expectStatus()
				.isOk();
			Within.seconds(3).until(() -> limit(one) == 10_000);
			await().untilAsserted(() -> assertThat(oldest(other))
				.extracting(AuditRecord::action, AuditRecord::outcome, AuditRecord::actor, AuditRecord::target,
						AuditRecord::after, AuditRecord::reason)
				.containsExactly("tenant-limits", "done", "ann", "tenant orders/tenant/acme", "{per-tenant=[500/m]}",
						"cost"));
		}));
	}

	@ParameterizedTest
	@EnumSource
	void tenantGetsNoMoreThanItsTierAndNothingThatIsNotItsOwn(WebStack stack, RedisServer redis) {
		stack.run(false, properties(redis), (context, client) -> {
			patch(client, ADMIN, "{\"policy\": \"orders\", \"limits\": {\"per-tenant\": \"10001/m\"}}").expectStatus()
				.isForbidden()
				.expectBody()
				.jsonPath("$.detail")
				.isEqualTo("Limit 'per-tenant' can be at most 10000/m for this tenant; only operators can raise it");
			patch(client, ADMIN, "{\"policy\": \"orders\", \"limits\": {\"per-tenant\": \"1/m burst 10001\"}}")
				.expectStatus()
				.isForbidden();
			patch(client, ADMIN + "/small", "{\"policy\": \"orders\", \"limits\": {\"per-tenant\": \"101/m\"}}")
				.expectStatus()
				.isForbidden();
			patch(client, "bob/acme/OTHER", TIGHTER).expectStatus().isForbidden();
			patch(client, "bob//RATELIMIT_TENANT_ADMIN", TIGHTER).expectStatus().isForbidden();
			client.patch()
				.uri("/ratelimit/tenants/me/limits")
				.contentType(MediaType.APPLICATION_JSON)
				.bodyValue(TIGHTER)
				.exchange()
				.expectStatus()
				.isUnauthorized();
			assertThat(limit(context)).isEqualTo(10_000);
		});
	}

	@ParameterizedTest
	@EnumSource
	void quotasThatANewerReleaseHasWrittenCanBeChanged(WebStack stack, RedisServer redis) {
		stack.run(false, properties(redis), (context, client) -> {
			Edit newer = new Edit(RecordIds.tightening("orders", "acme"),
					"{\"limits\": {\"per-tenant\": \"700/m\"}, \"invented\": 1}", null);
			Stages.join(context.getBean(PolicyStore.class).write(List.of(newer), Seen.NOTHING, "ann", ""));
			Within.seconds(3).until(() -> limit(context) == 700);
			patch(client, ADMIN, TIGHTER).expectStatus().isOk();
			Within.seconds(3).until(() -> limit(context) == 500);
			assertThat(Stages.join(context.getBean(PolicyStore.class).history(newer.key(), 1)).get(0).body())
				.contains("\"limits\":{\"per-tenant\":[\"500/m\"]}")
				.contains("\"invented\":1");
			patch(client, ADMIN, TIGHTER.replace("{\"policy\"", "{\"invented\": 2, \"policy\"")).expectStatus()
				.isBadRequest();
		});
	}

	@ParameterizedTest
	@EnumSource
	void refusedAttemptsNameTheRecordToo(WebStack stack, RedisServer redis) {
		stack.run(false, properties(redis), (context, client) -> {
			patch(client, "bob/acme/OTHER", TIGHTER).expectStatus().isForbidden();
			patch(client, "bob//RATELIMIT_TENANT_ADMIN", TIGHTER).expectStatus().isForbidden();
			await().untilAsserted(() -> assertThat(Stages.join(context.getBean(PolicyStore.class).audit(null, 10)))
				.extracting((entry) -> entry.attempt().outcome() + ' ' + entry.attempt().target())
				.containsExactly("refused policy orders", "refused tenant orders/tenant/acme"));
		});
	}

	@ParameterizedTest
	@EnumSource
	void whatCannotBeMeantIsAProblem(WebStack stack, RedisServer redis) {
		stack.run(false, properties(redis), (context, client) -> {
			for (String body : List.of("{\"policy\": \"orders\", \"limits\": {\"per-tenant\": \"1/h\"}}",
					"{\"policy\": \"orders\", \"limits\": {\"nosuch\": \"1/m\"}}",
					"{\"policy\": \"nosuch\", \"limits\": {\"per-tenant\": \"1/m\"}}",
					"{\"policy\": \"orders\", \"limits\": {\"per-tenant\": \"much\"}}",
					"{\"policy\": \"orders\", \"limit\": {}}", "{\"policy\": \"orders\"}", "{", "[]")) {
				patch(client, ADMIN, body).expectStatus()
					.isBadRequest()
					.expectHeader()
					.contentType(MediaType.APPLICATION_PROBLEM_JSON);
			}
			patch(client, ADMIN, "{\"policy\": \"" + "x".repeat(256 * 1024) + "\"}").expectStatus().isEqualTo(413);
		});
	}

	@ParameterizedTest
	@EnumSource
	void withoutTheSettingThereIsNothingForTenants(WebStack stack, RedisServer redis) {
		String[] properties = properties(redis);
		properties[0] = "ratelimit.self-service.enabled=false";
		stack.run(false, properties, (context, client) -> patch(client, ADMIN, TIGHTER).expectStatus().isNotFound());
	}

	private static String[] properties(RedisServer redis) {
		return new String[] { "ratelimit.self-service.enabled=true", "spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port(), "ratelimit.redis.timeout=2s",
				"ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=10000/m",
				"ratelimit.policies.orders.tiers.small.limits.per-tenant=100/m" };
	}

	private static WebTestClient.ResponseSpec patch(WebTestClient client, String token, String body) {
		return client.patch()
			.uri("/ratelimit/tenants/me/limits")
			.headers((headers) -> headers.setBearerAuth(token))
			.contentType(MediaType.APPLICATION_JSON)
			.bodyValue(body)
			.exchange();
	}

	/** Of the two attempts that the fleet's trail has. */
	private static AuditRecord oldest(ApplicationContext context) {
		List<AuditEntry> entries = context.getBean(PolicyStore.class)
			.audit(null, 10)
			.toCompletableFuture()
			.orTimeout(10, TimeUnit.SECONDS)
			.join();
		assertThat(entries).hasSize(2);
		return entries.get(1).attempt();
	}

	/** What the limit is for the tenant on this instance. */
	private static long limit(ApplicationContext context) {
		Request acme = Request.of("orders").with(Dimension.TENANT, "acme");
		return context.getBean(Policies.class).get().match(acme).specs().get(0).limit().quotas().get(0).permits();
	}

}
