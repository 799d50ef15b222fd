package dev.ratelimit.gateway;

import java.io.IOException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.reactive.context.ReactiveWebServerApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Behind a proxy the connection is that of all its callers, so no policy closes it.
 */
class KeptConnectionTests {

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.identity.trusted-hops=1", "ratelimit.identity.trusted-proxies=127.0.0.0/8" })
	void connectionOfAProxyIsNotClosed(String proxies) throws IOException {
		try (var gateway = (ReactiveWebServerApplicationContext) new SpringApplicationBuilder(
				GatewayTestApplication.class)
			.properties("spring.main.web-application-type=reactive", "server.port=0",
					"ratelimit.policies.dsl.limits.all.by=", "ratelimit.policies.dsl.limits.all.quota=9/s",
					"ratelimit.policies.login.limits.per-ip.by=ip",
					"ratelimit.policies.login.limits.per-ip.quota=1000/s",
					"ratelimit.policies.login.penalty.close-after=3", "ratelimit.policies.login.penalty.after=1000",
					"ratelimit.urls.never.path=/url/never", "ratelimit.urls.never.policy=login",
					"ratelimit.urls.never.cost=1001", proxies)
			.run(); var connection = new ClosedConnectionTests.Connection(gateway.getWebServer().getPort())) {
			for (int i = 0; i < 10; i++) {
				assertThat(connection.get("/url/never")).isNotEqualTo("close");
			}
		}
	}

}
