package dev.ratelimit.gateway;

import java.util.HashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.web.reactive.server.WebTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A gateway with all that it is configured by itself, refreshed while it runs.
 */
@ExtendWith(OutputCaptureExtension.class)
class GatewayRefreshTests {

	private static final String ROUTES = "spring.cloud.gateway.server.webflux.routes";

	private static final String QUOTA = "ratelimit.policies.orders.limits.per-ip.quota";

	@Test
	void limitsAndRoutesFollowTheConfiguration(CapturedOutput output) {
		Map<String, Object> changing = new HashMap<>(Map.of(QUOTA, "3/h"));
		changing.putAll(route(0, "a", "orders"));
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(GatewayTestApplication.class)
			.web(WebApplicationType.REACTIVE)
			.initializers((starting) -> starting.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("changing", changing)))
			.properties("server.port=0", "ratelimit.policies.orders.limits.per-ip.by=ip")
			.run()) {
			for (int i = 0; i < 3; i++) {
				assertThat(call(context, "/a")).isEqualTo(200);
			}
			assertThat(call(context, "/a")).isEqualTo(429);
			changing.put(QUOTA, "100000/h");
			changing.putAll(route(1, "b", "ordres"));
			context.getBean(ContextRefresher.class).refresh();
			await().until(() -> call(context, "/a") == 200);
			// A start would have failed by it; a gateway that runs goes on.
			await().until(() -> call(context, "/b") == 200);
			assertThat(output).containsOnlyOnce("A request names policy 'ordres', which does not exist");
		}
	}

	private static Map<String, Object> route(int index, String id, String policy) {
		String route = ROUTES + "[" + index + "].";
		return Map.of(route + "id", id, route + "uri", "forward:///", route + "predicates[0]", "Path=/" + id,
				route + "filters[0]", "RateLimit=" + policy, route + "filters[1]", "SetPath=/upstream");
	}

	private static int call(ConfigurableApplicationContext context, String path) {
		String port = context.getEnvironment().getProperty("local.server.port");
		return WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + port)
			.build()
			.get()
			.uri(path)
			.exchange()
			.returnResult(Void.class)
			.getStatus()
			.value();
	}

}
