package dev.ratelimit.gateway;

import java.util.Map;
import java.util.UUID;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleTracer;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.reactive.server.WebTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a gateway with a tracer and a registry tells them.
 */
@SpringBootTest(classes = { GatewayTestApplication.class, GatewayTracingTests.Tracing.class },
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("gateway-test")
class GatewayTracingTests {

	@Autowired
	private WebTestClient client;

	@Autowired
	private SimpleTracer tracer;

	@Autowired
	private MeterRegistry registry;

	@Test
	void spanOfTheRequestHasTheDecisionAndTheProblemHasTheTraceId() {
		String ann = Tokens.of(UUID.randomUUID().toString(), "ann");
		get("/orders-3", ann).expectStatus().isOk();
		Map<?, ?> problem = get("/orders", ann).expectStatus()
			.isEqualTo(429)
			.expectBody(Map.class)
			.returnResult()
			.getResponseBody();
		String traceId = (String) problem.get("traceId");
		assertThat(traceId).isNotEmpty();
		await().untilAsserted(
				() -> assertThat(this.tracer.getSpans()).filteredOn((span) -> span.getTraceId().equals(traceId))
					.flatMap((span) -> span.getEvents())
					.extracting((event) -> event.getValue())
					.contains("ratelimit.decision policy=orders outcome=refused"));
		assertThat(this.tracer.getSpans()).noneMatch((span) -> span.getName().contains("ratelimit"));
	}

	@Test
	void standInForTheGatewaysOwnLimiterIsMetered() {
		String key = UUID.randomUUID().toString();
		for (int i = 0; i < 3; i++) {
			this.client.get().uri("/drop-in-slow").header("X-Key", key).exchange();
		}
		assertThat(this.registry.get("ratelimit.decisions")
			.tags("policy", "request-rate-limiter", "version", "0", "outcome", "allowed")
			.counter()
			.count()).isPositive();
		assertThat(this.registry.get("ratelimit.refusals")
			.tags("policy", "request-rate-limiter", "limit", "per-route-and-key")
			.counter()
			.count()).isPositive();
	}

	private WebTestClient.ResponseSpec get(String uri, String authorization) {
		return this.client.get().uri(uri).header("Authorization", authorization).exchange();
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Tracing {

		@Bean
		SimpleMeterRegistry registry() {
			return new SimpleMeterRegistry();
		}

		@Bean
		SimpleTracer tracer() {
			return new SimpleTracer();
		}

		@Bean
		DefaultTracingObservationHandler tracingHandler(SimpleTracer tracer) {
			return new DefaultTracingObservationHandler(tracer);
		}

	}

}
