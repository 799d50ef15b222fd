package dev.ratelimit.app.demo;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.util.ClassUtils;

import dev.ratelimit.app.RateLimitGatewayApplication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the endpoint of the runnable gateway says to bodies that it cannot read. There are
 * no servlets on its class path, as in most gateways.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdminInputTests {

	@Test
	void gatewayHasNoServlets() {
		assertThat(ClassUtils.isPresent("jakarta.servlet.ServletException", null)).isFalse();
	}

	/** On a port of its own, and on the gateway's. */
	@ParameterizedTest
	@ValueSource(strings = { "--management.server.port=0", "--management.server.port=" })
	void bodyThatCannotBeReadIsAProblemAndAudited(String managementPort, CapturedOutput output) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(RateLimitGatewayApplication.class)
			.profiles("demo")
			.run("--server.port=0", managementPort)) {
			WebTestClient client = client(context);
			post(client, "application/json", "{\"mode\": \"allow\", \"reason\": \"" + "x".repeat(300_000) + "\"}", 413,
					"body");
			post(client, "application/json", "{\"mode\": \"allow\"} x", 400, "body");
			post(client, "text/plain", "{\"mode\": \"allow\"}", 415, "Content-Type");
			client.get()
				.uri("/actuator/ratelimit/audit")
				.exchange()
				.expectBody()
				.jsonPath("$.entries[*].outcome")
				.isEqualTo(List.of("invalid", "invalid", "invalid"))
				.jsonPath("$.entries[*].actor")
				.isEqualTo(List.of("ann", "ann", "ann"));
			assertThat(output).doesNotContain("@ExceptionHandler").doesNotContain("\tat ");
		}
	}

	private static void post(WebTestClient client, String type, String body, int status, String field) {
		client.post()
			.uri("/actuator/ratelimit/switch")
			.header("Content-Type", type)
			.bodyValue(body)
			.exchange()
			.expectStatus()
			.isEqualTo(status)
			.expectHeader()
			.valueEquals("Content-Type", "application/problem+json")
			.expectBody()
			.jsonPath("$.field")
			.isEqualTo(field)
			.jsonPath("$.fix")
			.isNotEmpty();
	}

	private static WebTestClient client(ConfigurableApplicationContext context) {
		String own = context.getEnvironment().getProperty("local.management.port");
		String token = DemoTokens.sign(Map.of("sub", "ann", "roles", List.of("RATELIMIT_ADMIN")), Instant.now());
		return WebTestClient.bindToServer()
			.baseUrl("http://localhost:"
					+ ((own != null) ? own : context.getEnvironment().getProperty("local.server.port")))
			.defaultHeader("Authorization", "Bearer " + token)
			.build();
	}

}
