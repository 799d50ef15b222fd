package dev.ratelimit.gateway;

import java.util.function.Consumer;

import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A route that names a policy that does not exist. One in the configuration would stop
 * the start; one in code is found when it is used.
 */
@ExtendWith(OutputCaptureExtension.class)
class UnknownPolicyTests {

	@Test
	void requestPassesAndIsCountedAsAnErrorAndTheNameIsLoggedOnce(CapturedOutput output) {
		run("allow", (context) -> {
			for (int i = 0; i < 5; i++) {
				call(context).expectStatus().isOk();
			}
			assertThat(context.getBean(MeterRegistry.class)
				.get("ratelimit.decisions")
				.tags("policy", "unknown", "outcome", "error")
				.counter()
				.count()).isEqualTo(5);
			assertThat(output).containsOnlyOnce("A request names policy 'dsl', which does not exist");
		});
	}

	@Test
	void requestIsAnswered503WhereUnknownPoliciesDeny(CapturedOutput output) {
		run("deny", (context) -> {
			call(context).expectStatus()
				.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
				.expectHeader()
				.contentTypeCompatibleWith(MediaType.APPLICATION_PROBLEM_JSON)
				.expectHeader()
				.exists("Retry-After");
			assertThat(output).contains("such requests are answered by 'deny' (ratelimit.on-unknown-policy)");
		});
	}

	private static WebTestClient.ResponseSpec call(ConfigurableApplicationContext context) {
		String port = context.getEnvironment().getProperty("local.server.port");
		return WebTestClient.bindToServer().baseUrl("http://localhost:" + port).build().get().uri("/dsl").exchange();
	}

	private static void run(String mode, Consumer<ConfigurableApplicationContext> test) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(GatewayTestApplication.class)
			.web(WebApplicationType.REACTIVE)
			.properties("server.port=0", "ratelimit.on-unknown-policy=" + mode,
					"management.defaults.metrics.export.enabled=false", "management.simple.metrics.export.enabled=true")
			.run()) {
			test.accept(context);
		}
	}

}
