package dev.ratelimit.test;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.env.Environment;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

import dev.ratelimit.aop.RateLimited;

import static dev.ratelimit.test.HttpAnswerAssert.assertThatExchange;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A WebFlux application whose configuration wants Redis.
 */
@RateLimitTest
@SpringBootTest(classes = RateLimitTestTests.Application.class,
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.main.web-application-type=reactive", "ratelimit.backend=redis",
				"spring.data.redis.host=nosuch.invalid", "ratelimit.policies.reports.limits.per-ip.by=ip",
				"ratelimit.policies.reports.limits.per-ip.quota=2/m" })
class RateLimitTestTests {

	@Autowired
	private Environment environment;

	@Autowired
	private SettableClock clock;

	/** Two methods on one context: the second finds full counters. */
	@RepeatedTest(2)
	void everyTestStartsWithFullCounters() {
		assertThatExchange(report()).isNotRefused().hasPolicy("reports").hasRemaining(1);
		assertThatExchange(report()).isNotRefused().hasRemaining(0);
		assertThatExchange(report()).isRefusedBy("per-ip").hasRetryAfterOfAtLeast(Duration.ofSeconds(30));
		this.clock.advance(Duration.ofSeconds(30));
		assertThatExchange(report()).isNotRefused();
	}

	@Test
	void forgottenCountersDoNotComeBack() {
		assertThatExchange(report()).isNotRefused().hasRemaining(1);
		assertThatExchange(report()).isNotRefused().hasRemaining(0);
		assertThatExchange(report()).isRefused();
		TestContext test = new TestContextManager(getClass()).getTestContext();
		for (int i = 0; i < 5; i++) {
			new FullCountersPerTest().beforeTestMethod(test);
		}
		assertThatExchange(report()).isNotRefused().hasRemaining(1);
	}

	@Test
	void importsAreClassesOfTheStarter() throws IOException {
		ClassLoader classes = getClass().getClassLoader();
		String imports = "META-INF/spring/" + RateLimitTest.class.getName() + ".imports";
		try (InputStream file = classes.getResourceAsStream(imports)) {
			assertThat(new String(file.readAllBytes(), StandardCharsets.UTF_8).lines())
				.contains("optional:dev.ratelimit.gateway.RateLimitGatewayMvcAutoConfiguration")
				.allSatisfy((line) -> assertThat(
						classes.getResource(line.substring("optional:".length()).replace('.', '/') + ".class"))
					.as(line)
					.isNotNull());
		}
	}

	@Test
	void failureShowsStatusAndHeaders() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThatExchange(report()).isRefused())
			.withMessage("Expected a refusal, but it was status 200, X-RateLimit-Policy: reports, "
					+ "X-RateLimit-Remaining: 1");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> assertThatExchange(report()).hasRemaining(5))
			.withMessageContaining("Expected X-RateLimit-Remaining to be '5', but it was status 200");
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThatExchange(report()).isRefusedBy("per-tenant"))
			.withMessageContaining("Expected a refusal by limit 'per-tenant', but it was status 429")
			.withMessageContaining("Retry-After: ");
	}

	@RepeatedTest(2)
	void everyTestStartsAtTheSameTime() {
		assertThat(this.clock.instant()).isEqualTo("2026-01-01T00:00:00Z");
		this.clock.advance(Duration.ofDays(1));
	}

	private WebTestClient.ResponseSpec report() {
		String port = this.environment.getProperty("local.server.port");
		return WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + port)
			.responseTimeout(Duration.ofSeconds(60))
			.build()
			.get()
			.uri("/reports")
			.exchange();
	}

	@RestController
	@EnableAutoConfiguration
	static class Application {

		@RateLimited("reports")
		@GetMapping("/reports")
		Mono<String> report() {
			return Mono.just("report");
		}

	}

}
