package dev.ratelimit.gateway;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * What routes may say, and what stops the start.
 */
@ExtendWith(OutputCaptureExtension.class)
class RouteConfigurationTests {

	private static final String NEW = "spring.cloud.gateway.server.webflux.";

	private static final String OLD = "spring.cloud.gateway.";

	@Test
	void routesUnderTheOldPrefixWork() {
		limited(OLD + "routes[0].filters[0]=RateLimit=orders", OLD + "routes[0].filters[1]=SetPath=/upstream",
				OLD + "routes[0].predicates[0]=Path=/a", OLD + "routes[0].uri=forward:///", OLD + "routes[0].id=a");
	}

	@Test
	void defaultFilterLimitsEveryRoute() {
		limited(NEW + "default-filters[0]=RateLimit=orders", NEW + "routes[0].filters[0]=SetPath=/upstream",
				NEW + "routes[0].predicates[0]=Path=/a", NEW + "routes[0].uri=forward:///", NEW + "routes[0].id=a");
	}

	@Test
	void routeThatNamesAnUnknownPolicyFailsWithTheNearestName(CapturedOutput output) {
		assertThatException().isThrownBy(() -> start(NEW + "routes[0].filters[0]=RateLimit=ordres",
				NEW + "routes[0].predicates[0]=Path=/a", NEW + "routes[0].uri=forward:///", NEW + "routes[0].id=a"));
		assertThat(output).contains("The RateLimit filter of route 'a' names policy 'ordres', which does not exist.")
			.contains("Did you mean 'orders'?");
	}

	@Test
	void costAboveTheBurstIsWarnedAbout(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(NEW + "routes[0].filters[0]=RateLimit=orders,50",
				NEW + "routes[0].predicates[0]=Path=/a", NEW + "routes[0].uri=forward:///", NEW + "routes[0].id=a")) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).contains("route 'a' costs 50 permits, but policy 'orders' never has more than 3");
		}
	}

	@Test
	void startSaysBackendPoliciesAndWhereToLook(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start()) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output.getAll().lines().filter((line) -> line.contains("Rate limits are counted")))
				.singleElement()
				.asString()
				.contains("WARN")
				.contains("in this process only")
				.contains("1 policy (on failure: orders=allow)")
				.contains("/actuator/ratelimit");
		}
	}

	private static void limited(String... routes) {
		try (ConfigurableApplicationContext context = start(routes)) {
			String port = context.getEnvironment().getProperty("local.server.port");
			WebTestClient client = WebTestClient.bindToServer().baseUrl("http://localhost:" + port).build();
			for (int i = 0; i < 3; i++) {
				client.get().uri("/a").exchange().expectStatus().isOk();
			}
			client.get().uri("/a").exchange().expectStatus().isEqualTo(429);
		}
	}

	private static ConfigurableApplicationContext start(String... properties) {
		return new SpringApplicationBuilder(GatewayTestApplication.class).web(WebApplicationType.REACTIVE)
			.properties("server.port=0", "ratelimit.policies.orders.limits.per-ip.by=ip",
					"ratelimit.policies.orders.limits.per-ip.quota=3/h")
			.properties(properties)
			.run();
	}

}
