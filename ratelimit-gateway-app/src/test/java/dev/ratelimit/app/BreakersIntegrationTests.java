package dev.ratelimit.app;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The limiter's breakers are in the registry of the application, with all that
 * Resilience4j makes of it.
 */
@ExtendWith(RedisServers.class)
class BreakersIntegrationTests {

	@Test
	void circuitbreakersShowsTheBreakerOfTheRedisNode(RedisServer redis) {
		try (ConfigurableApplicationContext gateway = start(redis)) {
			client(gateway, "local.server.port").get().uri("/exact").exchange().expectStatus().isOk();
			WebTestClient management = client(gateway, "local.management.port");
			management.get().uri("/actuator/circuitbreakers").exchange().expectStatus().isUnauthorized();
			String admin = client(gateway, "local.server.port").get()
				.uri("/demo/token?tenant=acme&user=ann&roles=RATELIMIT_ADMIN")
				.exchange()
				.expectBody(Token.class)
				.returnResult()
				.getResponseBody()
				.access_token();
			management.get()
				.uri("/actuator/circuitbreakers")
				.headers((headers) -> headers.setBearerAuth(admin))
				.exchange()
				.expectStatus()
				.isOk()
				.expectBody(Breakers.class)
				.value((shown) -> assertThat(shown.circuitBreakers()).hasSize(1).allSatisfy((name, breaker) -> {
					assertThat(name).startsWith("ratelimit-").endsWith(":" + redis.port());
					assertThat(breaker.state()).isEqualTo("CLOSED");
				}));
		}
	}

	private static ConfigurableApplicationContext start(RedisServer redis) {
		return new SpringApplicationBuilder(RateLimitGatewayApplication.class).profiles("demo", "two-gateways")
			.run("--server.port=0", "--management.server.port=0",
					"--management.endpoints.web.exposure.include=circuitbreakers",
					"--spring.data.redis.host=" + redis.host(), "--spring.data.redis.port=" + redis.port());
	}

	private static WebTestClient client(ConfigurableApplicationContext gateway, String port) {
		return WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + gateway.getEnvironment().getProperty(port))
			.responseTimeout(Duration.ofMinutes(1))
			.build();
	}

	private record Token(String access_token) {
	}

	private record Breakers(Map<String, Breaker> circuitBreakers) {
	}

	private record Breaker(String state) {
	}

}
