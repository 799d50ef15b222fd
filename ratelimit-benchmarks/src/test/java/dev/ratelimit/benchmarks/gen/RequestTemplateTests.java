package dev.ratelimit.benchmarks.gen;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.ratelimit.benchmarks.load.Arrival;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RequestTemplateTests {

	@Test
	void pathAndHeadersNameCallerAddressAndCost() {
		RequestTemplate template = RequestTemplate.of("http://localhost:8080/items/{key}?cost={cost}",
				List.of("X-Forwarded-For: {ip}", "X-API-Key: sk_{key}"));

		assertThat(template.server().getPort()).isEqualTo(8080);
		assertThat(template.encode(new Arrival(0, 66_051, 7)).toString(StandardCharsets.US_ASCII)).isEqualTo(
				"GET /items/66051?cost=7 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nX-Forwarded-For: 10.1.2.3\r\n"
						+ "X-API-Key: sk_66051\r\n\r\n");
	}

	@Test
	void lineOfALogKeepsMethodTargetAndClient() {
		RequestTemplate template = RequestTemplate.of("http://127.0.0.1:8080", List.of("X-Forwarded-For: {ip}"));

		assertThat(template.encode(new AccessLog.Entry(0, "192.0.2.7", "-", "DELETE", "/orders/7?x=1"))
			.toString(StandardCharsets.US_ASCII)).startsWith("DELETE /orders/7?x=1 HTTP/1.1\r\n")
			.contains("X-Forwarded-For: 192.0.2.7\r\n");
	}

	@Test
	void loadIsOnlySentToThisMachine() {
		assertThatIllegalArgumentException().isThrownBy(() -> RequestTemplate.of("http://192.0.2.1/", List.of()))
			.withMessageContaining("loopback");
		assertThatIllegalArgumentException().isThrownBy(() -> RequestTemplate.of("localhost:8080", List.of()))
			.withMessageContaining("http://");
	}

}
