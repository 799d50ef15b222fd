package dev.ratelimit.app;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.EntityExchangeResult;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What gateways admit of a policy with a ceiling while Redis is away.
 */
@ExtendWith(RedisServers.class)
class DegradedCeilingIntegrationTests {

	private static final String CEILING = "--ratelimit.policies.exact.degraded-ceiling=";

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@ParameterizedTest
	@CsvSource({ "allow, 200", "local, 200", "deny, 503" })
	void ceilingRefusesWhileRedisIsAwayUnderEveryFailureMode(String mode, int below) {
		try (RedisServer redis = RedisServer.start();
				ConfigurableApplicationContext gateway = start(redis, CEILING + "3/d",
						"--ratelimit.policies.exact.on-failure=" + mode)) {
			assertThat(call(gateway).getResponseHeaders().getFirst("X-RateLimit-Policy")).isEqualTo("exact");
			redis.kill();
			for (int i = 0; i < 3; i++) {
				assertThat(call(gateway).getStatus().value()).isEqualTo(below);
			}
			EntityExchangeResult<Map<String, Object>> refused = call(gateway);
			assertThat(refused.getStatus()).isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
			assertThat(refused.getResponseHeaders().getFirst("X-RateLimit-Policy")).isEqualTo("degraded");
			assertThat(refused.getResponseHeaders().getFirst("X-RateLimit-Scope")).isEqualTo("policy");
			assertThat(refused.getResponseHeaders().getFirst("Retry-After")).matches("[1-9][0-9]*");
			assertThat(refused.getResponseHeaders().getContentType())
				.satisfies((type) -> assertThat(type.isCompatibleWith(MediaType.APPLICATION_PROBLEM_JSON)).isTrue());
			assertThat(refused.getResponseBody()).containsEntry("policy", "exact")
				.containsEntry("limit", "degraded-ceiling")
				.containsEntry("scope", "policy")
				.containsEntry("quota", "3/d")
				.containsKeys("retryAfter", "detail");
		}
	}

	@Test
	void twoGatewaysDivideTheCeiling() {
		try (RedisServer redis = RedisServer.start();
				ConfigurableApplicationContext one = start(redis, CEILING + "6/d");
				ConfigurableApplicationContext other = start(redis, CEILING + "6/d")) {
			for (ConfigurableApplicationContext gateway : List.of(one, other)) {
				await().atMost(PATIENCE).until(() -> gateway.getBean(Fleet.class).size() == 2);
			}
			redis.kill();
			assertThat(statuses(one, 5)).containsExactly(200, 200, 200, 429, 429);
			assertThat(statuses(other, 5)).containsExactly(200, 200, 200, 429, 429);
		}
	}

	@Test
	void ceilingWrittenThroughTheEndpointHoldsUnderTheSwitchAndWhileRedisIsAway() {
		try (RedisServer redis = RedisServer.start(); ConfigurableApplicationContext gateway = start(redis)) {
			String admin = token(gateway);
			write(gateway, admin, "policies/exact", """
					{"policy": {"degraded-ceiling": "4/d",
					            "limits": {"everybody": {"by": [], "quota": "100/d"}}}, "reason": "attack"}""");
			await().atMost(PATIENCE)
				.until(() -> gateway.getBean(Policies.class).get().find("exact").settings().degradedCeiling() != null);
			client(gateway, "local.management.port").get()
				.uri("/actuator/ratelimit/policies/exact")
				.headers((headers) -> headers.setBearerAuth(admin))
				.exchange()
				.expectBody()
				.jsonPath("$.policy['degraded-ceiling']")
				.isEqualTo("4/d");
			write(gateway, admin, "switch", "{\"mode\": \"allow\", \"for\": \"1h\", \"reason\": \"attack\"}");
			assertThat(statuses(gateway, 2)).containsExactly(200, 200);
			redis.kill();
			assertThat(statuses(gateway, 4)).containsExactly(200, 200, 429, 429);
		}
	}

	private static List<Integer> statuses(ConfigurableApplicationContext gateway, int calls) {
		List<Integer> statuses = new ArrayList<>();
		for (int i = 0; i < calls; i++) {
			statuses.add(call(gateway).getStatus().value());
		}
		return statuses;
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static EntityExchangeResult<Map<String, Object>> call(ConfigurableApplicationContext gateway) {
		return (EntityExchangeResult) client(gateway, "local.server.port").get()
			.uri("/exact")
			.exchange()
			.expectBody(Map.class)
			.returnResult();
	}

	private static String token(ConfigurableApplicationContext gateway) {
		return (String) client(gateway, "local.server.port").get()
			.uri("/demo/token?tenant=acme&user=ann&roles=RATELIMIT_ADMIN")
			.exchange()
			.expectBody(Map.class)
			.returnResult()
			.getResponseBody()
			.get("access_token");
	}

	private static void write(ConfigurableApplicationContext gateway, String admin, String path, String body) {
		client(gateway, "local.management.port").post()
			.uri("/actuator/ratelimit/" + path)
			.headers((headers) -> headers.setBearerAuth(admin))
			.contentType(MediaType.APPLICATION_JSON)
			.bodyValue(body)
			.exchange()
			.expectStatus()
			.isOk();
	}

	private static ConfigurableApplicationContext start(RedisServer redis, String... arguments) {
		List<String> all = new ArrayList<>(List.of("--server.port=0", "--management.server.port=0",
				"--ratelimit.policies-store.snapshot-file=none", "--spring.data.redis.host=" + redis.host(),
				"--spring.data.redis.port=" + redis.port()));
		all.addAll(List.of(arguments));
		return new SpringApplicationBuilder(RateLimitGatewayApplication.class).profiles("demo", "two-gateways")
			.run(all.toArray(String[]::new));
	}

	private static WebTestClient client(ConfigurableApplicationContext gateway, String port) {
		return WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + gateway.getEnvironment().getProperty(port))
			.responseTimeout(PATIENCE)
			.build();
	}

}
