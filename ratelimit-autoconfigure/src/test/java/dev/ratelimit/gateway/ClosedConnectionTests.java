package dev.ratelimit.gateway;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.web.reactive.server.WebTestClient;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A gateway whose policy closes a connection with the third refusal in a row.
 */
@SpringBootTest(classes = GatewayTestApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.main.web-application-type=reactive", "server.http2.enabled=true",
				"ratelimit.policies.dsl.limits.all.by=", "ratelimit.policies.dsl.limits.all.quota=9/s",
				"ratelimit.policies.login.limits.per-ip.by=ip", "ratelimit.policies.login.limits.per-ip.quota=1000/s",
				"ratelimit.policies.login.penalty.close-after=3", "ratelimit.policies.login.penalty.after=1000",
				"spring.cloud.gateway.server.webflux.routes[0].id=login",
				"spring.cloud.gateway.server.webflux.routes[0].uri=forward:///",
				"spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/login",
				"spring.cloud.gateway.server.webflux.routes[0].filters[0]=RateLimit=login,1",
				"spring.cloud.gateway.server.webflux.routes[0].filters[1]=SetPath=/upstream",
				"spring.cloud.gateway.server.webflux.routes[1].id=never",
				"spring.cloud.gateway.server.webflux.routes[1].uri=forward:///",
				"spring.cloud.gateway.server.webflux.routes[1].predicates[0]=Path=/never",
				"spring.cloud.gateway.server.webflux.routes[1].filters[0]=RateLimit=login,1001",
				"spring.cloud.gateway.server.webflux.routes[1].filters[1]=SetPath=/upstream",
				"spring.cloud.gateway.server.webflux.routes[2].id=two",
				"spring.cloud.gateway.server.webflux.routes[2].uri=forward:///",
				"spring.cloud.gateway.server.webflux.routes[2].predicates[0]=Path=/two",
				"spring.cloud.gateway.server.webflux.routes[2].filters[0]=RateLimit=wide",
				"spring.cloud.gateway.server.webflux.routes[2].filters[1]=RateLimit=login,1001",
				"spring.cloud.gateway.server.webflux.routes[2].filters[2]=SetPath=/upstream",
				"ratelimit.urls.never.path=/url/never", "ratelimit.urls.never.policy=login",
				"ratelimit.urls.never.cost=1001", "ratelimit.urls.early.path=/url/early",
				"ratelimit.urls.early.policy=login", "ratelimit.urls.early.cost=1001",
				"ratelimit.urls.early.before-authentication=true", "ratelimit.urls.passed.path=/upstream/passed",
				"ratelimit.urls.passed.policy=login", "ratelimit.urls.both.path=/never",
				"ratelimit.urls.both.policy=wide", "ratelimit.policies.wide.limits.per-ip.by=ip",
				"ratelimit.policies.wide.limits.per-ip.quota=1000/s", "ratelimit.policies.fast.limits.per-ip.by=ip",
				"ratelimit.policies.fast.limits.per-ip.quota=2/s burst 1", "ratelimit.policies.fast.penalty.after=1000",
				"ratelimit.urls.fast.path=/url/fast", "ratelimit.urls.fast.policy=fast" })
class ClosedConnectionTests {

	private static final Duration PROMPTLY = Duration.ofSeconds(30);

	@LocalServerPort
	private int port;

	@Test
	void connectionIsClosedWithTheLastAnswerOfTheRow() throws IOException {
		try (Connection connection = new Connection(this.port)) {
			assertThat(connection.get("/never")).isNotEqualTo("close");
			assertThat(connection.get("/never")).isNotEqualTo("close");
			assertThat(connection.get("/never")).isEqualTo("close");
			assertThat(connection.isClosed()).isTrue();
		}
	}

	@Test
	void refusalByTheSecondFilterOfARouteCounts() throws IOException {
		try (Connection connection = new Connection(this.port)) {
			assertThat(connection.get("/two")).isNotEqualTo("close");
			assertThat(connection.get("/two")).isNotEqualTo("close");
			assertThat(connection.get("/two")).isEqualTo("close");
			assertThat(connection.isClosed()).isTrue();
		}
	}

	@Test
	void allowedRequestEndsTheRow() throws IOException {
		try (Connection connection = new Connection(this.port)) {
			for (int i = 0; i < 3; i++) {
				assertThat(connection.get("/never")).isNotEqualTo("close");
				assertThat(connection.get("/never")).isNotEqualTo("close");
				assertThat(connection.get("/login")).isNotEqualTo("close");
			}
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/url/never", "/url/early" })
	void refusalsByUrlCloseTheConnectionToo(String path) throws IOException {
		try (Connection connection = new Connection(this.port)) {
			assertThat(connection.get(path)).isNotEqualTo("close");
			assertThat(connection.get("/never")).isNotEqualTo("close");
			assertThat(connection.get(path)).isEqualTo("close");
			assertThat(connection.isClosed()).isTrue();
		}
	}

	@Test
	void requestThatAUrlEntryLetsPassEndsTheRow() throws IOException {
		try (Connection connection = new Connection(this.port)) {
			for (int i = 0; i < 3; i++) {
				assertThat(connection.get("/url/never")).isNotEqualTo("close");
				assertThat(connection.get("/url/never")).isNotEqualTo("close");
				assertThat(connection.get("/upstream/passed")).isNotEqualTo("close");
			}
		}
	}

	@Test
	void refusalsOnOtherConnectionsDoNotCount() throws IOException {
		for (int i = 0; i < 4; i++) {
			try (Connection connection = new Connection(this.port)) {
				assertThat(connection.get("/never")).isNotEqualTo("close");
				assertThat(connection.get("/never")).isNotEqualTo("close");
			}
		}
	}

	@Test
	void clientOfHttp2HasToConnectAgain() {
		List<String> connections = new CopyOnWriteArrayList<>();
		HttpClient client = HttpClient.create()
			.host("localhost")
			.port(this.port)
			.protocol(HttpProtocol.H2C)
			.doOnResponse((response, connection) -> connections
				.add(Objects.requireNonNull(connection.channel().parent()).localAddress().toString()));
		for (int i = 0; i < 3; i++) {
			assertThat(status(client)).isEqualTo(429);
		}
		assertThat(connections).hasSize(3);
		assertThat(connections.stream().distinct()).hasSize(1);
		org.awaitility.Awaitility.await().atMost(PROMPTLY).until(() -> {
			status(client);
			return connections.stream().distinct().count() > 1;
		});
	}

	@Test
	void refusalUnderAPolicyWithPenaltiesAnnouncesAtLeastOneSecond() {
		WebTestClient client = WebTestClient.bindToServer()
			.baseUrl("http://localhost:" + this.port)
			.responseTimeout(PROMPTLY)
			.build();
		// The limit refuses for 500 ms at a time.
		org.awaitility.Awaitility.await()
			.atMost(PROMPTLY)
			.untilAsserted(() -> client.get()
				.uri("/url/fast")
				.exchange()
				.expectStatus()
				.isEqualTo(429)
				.expectHeader()
				.value("Retry-After", (seconds) -> assertThat(Long.parseLong(seconds)).isPositive())
				.expectBody()
				.jsonPath("$.retryAfterMs")
				.value((millis) -> assertThat(((Number) millis).longValue()).isGreaterThanOrEqualTo(1_000)));
	}

	private static int status(HttpClient client) {
		return Objects.requireNonNull(client.get()
			.uri("/never")
			.responseSingle((response, body) -> body.asString().defaultIfEmpty("").thenReturn(response.status().code()))
			.onErrorResume((failure) -> Mono.just(0))
			.block(PROMPTLY));
	}

	/** A connection of HTTP/1.1 that is kept alive. */
	static final class Connection implements AutoCloseable {

		private final Socket socket;

		private final BufferedReader in;

		Connection(int port) throws IOException {
			this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
			this.socket.setSoTimeout(Math.toIntExact(PROMPTLY.toMillis()));
			this.in = new BufferedReader(
					new InputStreamReader(this.socket.getInputStream(), StandardCharsets.ISO_8859_1));
		}

		/** The header Connection of the answer, empty if there is none. */
		String get(String path) throws IOException {
			this.socket.getOutputStream()
				.write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
			List<String> lines = new ArrayList<>();
			for (String line = this.in.readLine(); !line.isEmpty(); line = this.in.readLine()) {
				lines.add(line);
			}
			Map<String, String> headers = new LinkedHashMap<>();
			lines.subList(1, lines.size()).forEach((line) -> {
				String[] header = line.split(":", 2);
				headers.put(header[0].toLowerCase(Locale.ROOT), header[1].trim());
			});
			long length = Long.parseLong(headers.get("content-length"));
			assertThat(this.in.skip(length)).isEqualTo(length);
			return headers.getOrDefault("connection", "");
		}

		boolean isClosed() throws IOException {
			return this.in.read() < 0;
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

}
