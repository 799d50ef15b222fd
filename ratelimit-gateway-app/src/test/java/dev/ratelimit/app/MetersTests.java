package dev.ratelimit.app;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.actuate.health.CompositeHealth;
import org.springframework.boot.actuate.health.HealthComponent;
import org.springframework.boot.actuate.health.HealthEndpoint;
import org.springframework.boot.test.autoconfigure.actuate.observability.AutoConfigureObservability;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.reactive.server.WebTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What Prometheus and an orchestrator see of the demo. A context of its own: one that is
 * shared loses its management server when a test in between closes another gateway.
 */
@SpringBootTest(classes = RateLimitGatewayApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "management.server.port=0", "management.endpoint.health.show-details=always" })
@AutoConfigureObservability(tracing = false)
@ActiveProfiles("demo")
class MetersTests {

	@Autowired
	private WebTestClient gateway;

	@Autowired
	private HealthEndpoint health;

	@LocalManagementPort
	private int managementPort;

	@Test
	void prometheusSeesWhatWasAllowedAndRefused() {
		callUntilRefused();
		String decisions = "ratelimit_decisions_total\\{outcome=\"%s\",policy=\"demo-public\",source=\"memory\",version=\"0\"\\} [1-9].*";
		assertThat(manage("prometheus").lines()).anyMatch((line) -> line.matches(decisions.formatted("allowed")))
			.anyMatch((line) -> line.matches(decisions.formatted("refused")))
			.anyMatch((line) -> line
				.matches("ratelimit_refusals_total\\{limit=\"per-ip\",policy=\"demo-public\"\\} [1-9].*"))
			.anyMatch((line) -> line.startsWith("ratelimit_decision_latency_seconds_bucket{le=\"5.0E-5\"}"))
			.contains("ratelimit_policy_info{owner=\"demo\",policy=\"demo-public\"} 1", "ratelimit_fleet_instances 1.0",
					"ratelimit_switch_on 0.0", "ratelimit_rollbacks_total 0.0",
					"ratelimit_overage_total{enforcement=\"strict\",policy=\"demo-public\"} 0.0");
	}

	@Test
	void healthIsUpWithTheComponent() {
		assertThat(manage("health")).startsWith("{\"status\":\"UP\"")
			.contains("\"ratelimit\":{\"status\":\"UP\",\"details\":{\"backend\":\"memory\",\"degraded\":false,");
	}

	@Test
	void probesDoNotAskTheLimiter() {
		assertThat(components("readiness")).containsOnlyKeys("readinessState");
		assertThat(components("liveness")).containsOnlyKeys("livenessState");
	}

	/** Asked in the process: over HTTP a probe does not tell what it consists of. */
	private Map<String, HealthComponent> components(String group) {
		return ((CompositeHealth) this.health.healthForPath(group)).getComponents();
	}

	private void callUntilRefused() {
		int status = 200;
		for (int call = 0; status == 200 && call < 100; call++) {
			status = this.gateway.get()
				.uri("/demo/public/meters")
				.exchange()
				.returnResult(Void.class)
				.getStatus()
				.value();
		}
		assertThat(status).isEqualTo(429);
	}

	private String manage(String endpoint) {
		return this.gateway.mutate()
			.baseUrl("http://localhost:" + this.managementPort + "/actuator/")
			.codecs((codecs) -> codecs.defaultCodecs().maxInMemorySize(4 * 1024 * 1024))
			.build()
			.get()
			.uri(endpoint)
			.exchange()
			.expectStatus()
			.isOk()
			.returnResult(String.class)
			.getResponseBody()
			.collectList()
			.block()
			.stream()
			.reduce("", (one, other) -> one + other + "\n");
	}

}
