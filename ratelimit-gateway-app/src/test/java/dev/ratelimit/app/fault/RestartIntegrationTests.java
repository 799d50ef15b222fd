package dev.ratelimit.app.fault;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

import com.jayway.jsonpath.JsonPath;
import org.junit.jupiter.api.Test;

import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Redis is gone for a while, and with it all that it knew. */
class RestartIntegrationTests {

	/** Of the tenant that is counted; the others are never refused. */
	private static final int LIMIT = 25;

	private static final String COUNTED = "counted";

	private final HttpClient client = HttpClient.newHttpClient();

	@Test
	void gatewayStaysInServiceAndARestartedRedisLearnsTheScriptWithItsFirstCalls() {
		TenantDecisions seen = new TenantDecisions();
		try (RedisServer redis = RedisServer.start();
				FaultCase fault = FaultCase.start(
						"kill -9, restart without data and scripts; on-failure: deny, " + Faults.timeout(),
						Gateway.on(redis)
							.listener(seen)
							.policy("on-failure=deny", Faults.timeout(), "limits.per-tenant.by=tenant",
									"limits.per-tenant.quota=1000000/31d", "overrides[0].when.tenant=" + COUNTED,
									"overrides[0].limits.per-tenant=" + LIMIT + "/31d")
							.properties("management.endpoint.health.show-details=always"),
						Callers.tenants(10))) {
			fault.before();
			Gateway gateway = fault.gateways().get(0);
			use(gateway, LIMIT - 1);
			await("no degraded decision for a while").until(() -> !degraded(gateway));
			fault.during(redis::kill);
			assertUp(gateway);
			assertThat(degraded(gateway)).isTrue();
			fault.after(redis::restart);
			assertThat(fault.calls().calls(Phase.DURING).answered(Answer::unavailable)).isPositive();
			assertThat(fault.calls().total(Calls::serverErrors))
				.isEqualTo(fault.calls().total((calls) -> calls.answered(Answer::unavailable)));
			assertThat(fault.calls().total(Calls::failures)).isZero();
			assertThat(redis.calls("eval")).isPositive();
			use(gateway, 2 * LIMIT);
			assertThat(seen.of(COUNTED)).filteredOn(TenantDecisions.Made::granted)
				.as("admitted from what was counted before, and from nothing after")
				.hasSizeBetween(LIMIT + 1, 2 * LIMIT + 1);
		}
	}

	private void use(Gateway gateway, int calls) {
		for (int i = 0; i < calls; i++) {
			send(HttpRequest.newBuilder(gateway.targets().get(0).uri()).header("X-API-Key", COUNTED));
		}
	}

	private void assertUp(Gateway gateway) {
		for (String probe : new String[] { "", "/liveness", "/readiness" }) {
			HttpResponse<String> health = get(gateway, "/actuator/health" + probe);
			assertThat(health.statusCode()).isEqualTo(200);
			assertThat(JsonPath.<String>read(health.body(), "$.status")).isEqualTo("UP");
		}
	}

	private boolean degraded(Gateway gateway) {
		String health = get(gateway, "/actuator/health").body();
		assertThat(JsonPath.<String>read(health, "$.components.ratelimit.status")).isEqualTo("UP");
		return JsonPath.read(health, "$.components.ratelimit.details.degraded");
	}

	private HttpResponse<String> get(Gateway gateway, String path) {
		return send(HttpRequest.newBuilder(gateway.management(path)));
	}

	private HttpResponse<String> send(HttpRequest.Builder request) {
		try {
			return this.client.send(request.build(), HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new AssertionError(ex);
		}
	}

}
