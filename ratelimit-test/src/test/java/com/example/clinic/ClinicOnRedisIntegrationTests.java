package com.example.clinic;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.test.TestRedis;

import static dev.ratelimit.test.HttpAnswerAssert.assertThatExchange;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same application over HTTP, with its counters in a real Redis.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.main.web-application-type=servlet", "ratelimit.backend=redis",
				"ratelimit.redis.timeout=5s", "ratelimit.policies.reads.limits.per-ip.by=ip",
				"ratelimit.policies.reads.limits.per-ip.quota=2/h", "ratelimit.urls.owners.path=/owners/**",
				"ratelimit.urls.owners.policy=reads" })
class ClinicOnRedisIntegrationTests {

	@LocalServerPort
	private int port;

	@Autowired
	private TestRedis redis;

	@Test
	void limitIsCountedInRedis() {
		WebTestClient client = WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + this.port)
			.responseTimeout(Duration.ofSeconds(60))
			.build();
		assertThatExchange(client.get().uri("/owners").exchange()).isNotRefused().hasRemaining(1);
		assertThatExchange(client.get().uri("/owners").exchange()).isNotRefused().hasRemaining(0);
		assertThatExchange(client.get().uri("/owners").exchange()).isRefusedBy("per-ip");
		assertThat(this.redis.server().cli("KEYS", "rl:?g:*")).isNotBlank();
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Servers {

		@Bean
		static TestRedis redis() {
			return TestRedis.start();
		}

	}

}
