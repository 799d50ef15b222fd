package dev.ratelimit.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

import dev.ratelimit.Dimension;
import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.aop.RateLimitedAutoConfiguration;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitRefusalsAutoConfiguration;
import dev.ratelimit.caller.Pseudonyms;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.testing.CapturedLog;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * "Why was I limited?", from the request that is refused to the answer of the endpoint,
 * on a real Redis.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class RefusalIntegrationTests {

	private static final String REFUSALS = "/actuator/ratelimit/refusals";

	private static final String ANN = "?tenant=acme-corp&user=ann-marie";

	private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

	private final ReactiveWebApplicationContextRunner context = ReactiveEndpoint
		.runner(RateLimitRefusalsAutoConfiguration.class, RateLimitedAutoConfiguration.class,
				ReactiveSecurityAutoConfiguration.class)
		.withUserConfiguration(UsageFleetIntegrationTests.Security.class)
		.withBean(Orders.class)
		.withPropertyValues("ratelimit.redis.timeout=2s",
				"ratelimit.identity.hash.salt=a-salt-that-all-instances-share",
				"ratelimit.policies.orders.on-failure=deny", "ratelimit.policies.orders.limits.per-user.by=tenant,user",
				"ratelimit.policies.orders.limits.per-user.quota=2/h");

	private final CapturedLog log = new CapturedLog("dev.ratelimit.refusals");

	@AfterEach
	void end() {
		this.log.close();
	}

	@Test
	void refusalIsReconstructedOnAnotherInstance(RedisServer redis, CapturedOutput output) {
		on(redis).run((one) -> on(redis).run((other) -> {
			for (int status : new int[] { 200, 200, 429, 429 }) {
				order(one, "ann-marie").expectStatus().isEqualTo(status);
			}
			Instant now = Instant.now();
			List<Map<String, Object>> entries = entries(other, ANN + "&policy=orders&at=" + now, 2);
			Pseudonyms pseudonyms = one.getBean(Pseudonyms.class);
			Map<String, Object> first = entries.get(1);
			assertThat(Duration.between(Instant.parse((String) first.get("time")), now).abs())
				.isLessThan(Duration.ofSeconds(5));
			assertThat((Integer) first.get("retryAfterMs")).isBetween(1_700_000, 1_800_000);
			assertThat((Integer) first.get("resetAfterMs")).isBetween(3_500_000, 3_600_000);
			assertThat(first).containsEntry("policy", "orders")
				.containsEntry("version", 0)
				.containsEntry("outcome", "refused")
				.containsEntry("reason", "limits")
				.containsEntry("source", "redis")
				.containsEntry("node", redis.host() + ":" + redis.port())
				.containsEntry("shadow", false)
				.containsEntry("degraded", false)
				.doesNotContainKey("failureMode")
				.containsEntry("cost", 1)
				.containsEntry("limit", "per-user")
				.containsEntry("by", List.of("tenant", "user"))
				.containsEntry("quota", "2/h")
				.containsEntry("window", 3600)
				.containsEntry("burst", 2)
				.containsEntry("used", 2)
				.containsEntry("remaining", 0)
				.containsEntry("breakersOpen", List.of())
				.doesNotContainKey("change")
				.containsEntry("traceId", TRACE)
				.containsEntry("instance", one.getBean(Fleet.class).instance())
				.containsEntry("caller", Map.of("tenant", pseudonyms.of(Dimension.TENANT, "acme-corp"), "user",
						pseudonyms.of(Dimension.USER, "ann-marie"), "route", "/orders/{id}", "region", "local"));
			assertThat(entries.get(0)).containsEntry("source", "denied-cache")
				.containsEntry("node", redis.host() + ":" + redis.port());
			assertThat(entries(other, "?tenant=acme-corp&user=bob", 0)).isEmpty();
			assertThat(entries(other, ANN + "&at=" + now.minusSeconds(600), 0)).isEmpty();
			assertThat(entries(other, ANN + "&at=" + now.minusSeconds(600) + "&within=1h", 2)).hasSize(2);
			assertThat(redis.cli("XRANGE", "rl:{refusals}:history", "-", "+")).contains("per-user")
				.doesNotContain("acme-corp", "ann-marie");
		}));
		assertThat(lines()).hasSize(2)
			.allMatch((line) -> line.startsWith("{\"event\":\"refused\",\"time\":"))
			.allMatch((line) -> line.contains("\"traceId\":\"" + TRACE + "\""))
			.noneMatch((line) -> line.contains("acme-corp") || line.contains("ann-marie"));
		assertThat(output.getOut()).doesNotContain("acme-corp", "ann-marie");
	}

	@Test
	void failureModeThatRefusedIsTold(RedisServer redis) {
		on(redis).run((context) -> {
			client(context).post()
				.uri("/actuator/ratelimit/switch")
				.headers((headers) -> headers.setBearerAuth("ops/ops/RATELIMIT_ADMIN"))
				.contentType(MediaType.APPLICATION_JSON)
				.bodyValue("{\"mode\": \"deny\"}")
				.exchange()
				.expectStatus()
				.isOk();
			await().atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> order(context, "ann-marie").expectStatus().isEqualTo(503));
			assertThat(entries(context, ANN, 1).get(0)).containsEntry("outcome", "error")
				.containsEntry("degraded", true)
				.containsEntry("failureMode", "deny")
				.containsEntry("reason", "switch")
				.containsEntry("source", "none")
				.doesNotContainKey("limit");
		});
	}

	@Test
	void changeThatIsUnderWayIsTold(RedisServer redis) {
		on(redis).run((context) -> {
			client(context).post()
				.uri("/actuator/ratelimit/policies/orders")
				.headers((headers) -> headers.setBearerAuth("ops/ops/RATELIMIT_ADMIN"))
				.contentType(MediaType.APPLICATION_JSON)
				.bodyValue(
						"{\"reason\": \"less\", \"policy\": {\"limits\": {\"per-user\": {\"by\": [\"tenant\", \"user\"], "
								+ "\"quota\": \"1/h\"}}, \"rollout\": {\"percent\": 99}}}")
				.exchange()
				.expectStatus()
				.isOk();
			await().atMost(Duration.ofSeconds(30))
				.until(() -> context.getBean(Policies.class).get().find("orders").version() == 1);
			for (int i = 0; i < 3; i++) {
				order(context, "ann-marie");
			}
			Map<String, Object> entry = entries(context, ANN, 1).get(0);
			assertThat(entry.get("change")).asInstanceOf(InstanceOfAssertFactories.MAP)
				.containsEntry("newestVersion", 1)
				.containsEntry("rolloutPercent", 99)
				.containsEntry("changed", "policy")
				.containsKey("changedMsAgo");
		});
	}

	@Test
	void whileRedisIsAwayRefusalsAreLoggedAndCounted(RedisServer redis) {
		on(redis)
			.withPropertyValues("ratelimit.redis.breaker.minimum-calls=1", "ratelimit.redis.breaker.failure-rate=1",
					"ratelimit.redis.breaker.open-for=1h")
			.run((context) -> {
				order(context, "ann-marie").expectStatus().isOk();
				redis.kill();
				for (int i = 0; i < 3; i++) {
					order(context, "ann-marie").expectStatus().isEqualTo(503);
				}
				get(context, ANN).expectStatus().isEqualTo(503).expectBody().jsonPath("$.detail").isNotEmpty();
				String node = redis.host() + ":" + redis.port();
				await().atMost(Duration.ofSeconds(30))
					.untilAsserted(() -> assertThat(lines().toString()).contains("\"reason\":\"unavailable\"",
							"\"failureMode\":\"deny\"",
							"\"reason\":\"breaker-open\",\"source\":\"none\",\"node\":\"" + node,
							"\"breakersOpen\":[\"" + node + "\"]"));
				redis.restart();
				await().atMost(Duration.ofSeconds(30))
					.untilAsserted(() -> get(context, ANN).expectStatus()
						.isOk()
						.expectBody()
						.jsonPath("$.missing")
						.isEqualTo(3)
						.jsonPath("$.entries.length()")
						.isEqualTo(0));
			});
	}

	private ReactiveWebApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	private static WebTestClient.ResponseSpec order(ApplicationContext context, String user) {
		return client(context).get()
			.uri("/orders/17")
			.header("traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01")
			.headers((headers) -> headers.setBearerAuth(user + "/acme-corp/OTHER"))
			.exchange();
	}

	private List<String> lines() {
		return this.log.lines();
	}

	/** Entries are there a moment after the refusal. */
	private static List<Map<String, Object>> entries(ApplicationContext context, String query, int count) {
		return await().atMost(Duration.ofSeconds(30))
			.until(() -> list(get(context, query).expectStatus()
				.isOk()
				.expectBody(new ParameterizedTypeReference<Map<String, Object>>() {
				})
				.returnResult()
				.getResponseBody()
				.get("entries")), (entries) -> entries.size() >= count);
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> list(Object value) {
		return (List<Map<String, Object>>) value;
	}

	private static WebTestClient.ResponseSpec get(ApplicationContext context, String query) {
		return client(context).get()
			.uri(REFUSALS + query)
			.headers((headers) -> headers.setBearerAuth(UsageFleetIntegrationTests.VIEWER))
			.exchange();
	}

	private static WebTestClient client(ApplicationContext context) {
		return WebTestClient.bindToApplicationContext(context).build();
	}

	/**
	 * What is limited.
	 */
	@RestController
	static class Orders {

		@GetMapping("/orders/{id}")
		@RateLimited("orders")
		Mono<String> order(@PathVariable String id) {
			return Mono.just(id);
		}

	}

}
