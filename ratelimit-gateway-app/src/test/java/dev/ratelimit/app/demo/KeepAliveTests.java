package dev.ratelimit.app.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.web.server.WebFilter;
import reactor.core.scheduler.Schedulers;

import dev.ratelimit.app.RateLimitGatewayApplication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A connection that is kept alive goes on being answered, however early a request comes.
 * Sent in one packet with one that is answered on another thread, it is early for certain
 * and has to queue.
 */
@SpringBootTest(classes = RateLimitGatewayApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "management.server.port=0")
@Import(KeepAliveTests.OtherThread.class)
@ActiveProfiles("demo")
class KeepAliveTests {

	private static final String OTHER_THREAD = "X-Other-Thread: yes\r\n";

	private static final Duration PROMPTLY = Duration.ofSeconds(30);

	@LocalServerPort
	private int gatewayPort;

	@LocalManagementPort
	private int managementPort;

	@ParameterizedTest
	@ValueSource(strings = { "POST", "PUT", "DELETE", "PATCH" })
	void managementPortAnswersWritesToAMissingPath(String method) throws IOException {
		String line = method + " /actuator/ratelimit/nosuch HTTP/1.1";
		assertThat(answers(this.managementPort, line, bearer("RATELIMIT_ADMIN"))).containsOnly(404);
	}

	@Test
	void managementPortAnswersWritesWithoutTheRole() throws IOException {
		String line = "POST /actuator/ratelimit/policies HTTP/1.1";
		assertThat(answers(this.managementPort, line, bearer("OTHER"))).containsOnly(403);
	}

	@Test
	void managementPortAnswersWritesWithoutAToken() throws IOException {
		assertThat(answers(this.managementPort, "POST /actuator/ratelimit/policies HTTP/1.1", "")).containsOnly(401);
	}

	@Test
	void gatewayAnswersCalls() throws IOException {
		assertThat(answers(this.gatewayPort, "GET /demo/api/orders HTTP/1.1", "")).containsOnly(200);
	}

	@Test
	void gatewayAnswersCallsWithABadToken() throws IOException {
		assertThat(answers(this.gatewayPort, "GET /demo/api/orders HTTP/1.1", "Authorization: Bearer garbage\r\n"))
			.containsOnly(401);
	}

	private static String bearer(String role) {
		return "Authorization: Bearer " + DemoTokens.sign(Map.of("sub", "ann", "roles", List.of(role)), Instant.now())
				+ "\r\n";
	}

	/** The statuses of two requests in one packet, and of one after them. */
	private static List<Integer> answers(int port, String line, String headers) throws IOException {
		String request = line + "\r\nHost: localhost\r\nContent-Length: 0\r\n" + headers;
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			socket.setSoTimeout(Math.toIntExact(PROMPTLY.toMillis()));
			BufferedReader in = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
			send(socket, request + OTHER_THREAD + "\r\n" + request + "\r\n");
			int first = status(in);
			int queued = status(in);
			send(socket, request + "\r\n");
			return List.of(first, queued, status(in));
		}
	}

	private static void send(Socket socket, String requests) throws IOException {
		socket.getOutputStream().write(requests.getBytes(StandardCharsets.ISO_8859_1));
	}

	private static int status(BufferedReader in) throws IOException {
		int status = Integer.parseInt(in.readLine().split(" ")[1]);
		int length = 0;
		for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
			String[] header = line.split(":", 2);
			if (header[0].equalsIgnoreCase("Content-Length")) {
				length = Integer.parseInt(header[1].trim());
			}
			assertThat(header[0]).isNotEqualToIgnoringCase("Transfer-Encoding");
		}
		assertThat(in.skip(length)).isEqualTo(length);
		return status;
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class OtherThread {

		@Bean
		@Order(Ordered.HIGHEST_PRECEDENCE)
		WebFilter otherThread() {
			return (exchange, chain) -> exchange.getRequest().getHeaders().containsKey("X-Other-Thread")
					? chain.filter(exchange).subscribeOn(Schedulers.parallel()) : chain.filter(exchange);
		}

	}

}
