package dev.ratelimit.app;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The packaged jar with nothing configured.
 */
@ExtendWith(OutputCaptureExtension.class)
class AnonymousGatewayTests {

	@Test
	void withoutAnIssuerEveryCallerIsAnonymous(CapturedOutput output) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(RateLimitGatewayApplication.class)
			.run("--server.port=0", "--management.server.port=0")) {
			assertThat(output).contains("every caller is anonymous").doesNotContain("demo");
			WebTestClient gateway = client(context, "local.server.port");
			gateway.get().uri("/demo/token").exchange().expectStatus().isNotFound();
			gateway.get()
				.uri("/anything")
				.headers((headers) -> headers.setBearerAuth("not looked at"))
				.exchange()
				.expectStatus()
				.isNotFound();
			WebTestClient management = client(context, "local.management.port");
			management.get().uri("/actuator/health").exchange().expectStatus().isOk();
			management.get().uri("/actuator/ratelimit").exchange().expectStatus().isUnauthorized();
			management.get()
				.uri("/actuator/ratelimit")
				.headers((headers) -> headers.setBearerAuth("not looked at"))
				.exchange()
				.expectStatus()
				.isUnauthorized();
		}
	}

	@ParameterizedTest
	@CsvSource({ ",true", "https://gateway.example.com,false" })
	void issuerWithoutAnAudienceIsWarnedOf(String audience, boolean warned, CapturedOutput output) {
		SpringApplicationBuilder application = new SpringApplicationBuilder(RateLimitGatewayApplication.class);
		application
			.run("--server.port=0", "--management.server.port=-1",
					"--spring.security.oauth2.resourceserver.jwt.jwk-set-uri=http://localhost:1/keys",
					"--GATEWAY_AUDIENCE=" + ((audience != null) ? audience : ""))
			.close();
		assertThat(output.getOut().contains("No audience is configured")).isEqualTo(warned);
	}

	private static WebTestClient client(ConfigurableApplicationContext context, String port) {
		return WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + context.getEnvironment().getProperty(port))
			.build();
	}

}
