package dev.ratelimit.gateway;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.control.Author;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.PolicyInUseException;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A route whose policy is only in the store, and is deleted there.
 */
@ExtendWith(RedisServers.class)
class RouteInUseIntegrationTests {

	private static final Author ANN = new Author("ann", "because");

	private static final String ROUTES = "spring.cloud.gateway.server.webflux.routes[0].";

	@Test
	void routeGoesOnByTheLastVersionOfAPolicyThatWasDeletedByForce(RedisServer redis) {
		try (ConfigurableApplicationContext first = start(redis)) {
			done(plane(first).writePolicy("extra",
					Map.of("limits", Map.of("per-ip", Map.of("by", "ip", "quota", "2/h"))), null, ANN));
		}
		try (ConfigurableApplicationContext context = start(redis, ROUTES + "id=a", ROUTES + "predicates[0]=Path=/a",
				ROUTES + "filters[0]=RateLimit=extra", ROUTES + "filters[1]=SetPath=/upstream",
				ROUTES + "uri=forward:///")) {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> done(plane(context).deletePolicy("extra", null, false, ANN)))
				.withCauseInstanceOf(PolicyInUseException.class)
				.withMessageContaining("route 'a'");
			done(plane(context).deletePolicy("extra", null, true, ANN));
			await().until(() -> context.getBean(Policies.class).get().retired().contains("extra"));
			for (int status : List.of(200, 200, 429)) {
				call(context).expectStatus()
					.isEqualTo(status)
					.expectHeader()
					.valueEquals("X-RateLimit-Policy", "extra");
			}
		}
	}

	private static WebTestClient.ResponseSpec call(ConfigurableApplicationContext context) {
		String port = context.getEnvironment().getProperty("local.server.port");
		return WebTestClient.bindToServer().baseUrl("http://localhost:" + port).build().get().uri("/a").exchange();
	}

	private static ControlPlane plane(ConfigurableApplicationContext context) {
		return context.getBean(ControlPlane.class);
	}

	private static <T> T done(CompletionStage<T> stage) {
		return stage.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
	}

	private static ConfigurableApplicationContext start(RedisServer redis, String... properties) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(GatewayTestApplication.class)
			.web(WebApplicationType.REACTIVE)
			.properties("server.port=0", "ratelimit.redis.timeout=2s", "spring.data.redis.host=" + redis.host(),
					"spring.data.redis.port=" + redis.port())
			.properties(properties)
			.run();
		assertThat(context.isRunning()).isTrue();
		return context;
	}

}
