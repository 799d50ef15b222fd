package dev.ratelimit.web.reactive;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.ReactiveWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.error.ErrorWebFluxAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.reactive.ReactiveManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A connection that is kept alive goes on being answered, however early a request comes.
 * Sent in one packet with one that is answered on another thread, it is early for certain
 * and has to queue.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.main.web-application-type=reactive", "management.server.port=0" })
class KeepAliveTests {

	private static final String OTHER_THREAD = "X-Other-Thread: yes\r\n";

	private static final Duration PROMPTLY = Duration.ofSeconds(10);

	@LocalServerPort
	private int port;

	@LocalManagementPort
	private int managementPort;

	@ParameterizedTest
	@ValueSource(strings = { "GET", "POST", "PUT", "DELETE", "PATCH" })
	void requestsThatAreRefusedAtOnceAreAnswered(String method) throws IOException {
		assertThat(answers(this.port, method)).containsOnly(429);
	}

	@Test
	void managementPortAnswersToo() throws IOException {
		assertThat(answers(this.managementPort, "POST")).containsOnly(429);
	}

	/** The statuses of two requests in one packet, and of one after them. */
	private static List<Integer> answers(int port, String method) throws IOException {
		String request = method + " / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n";
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

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ ReactiveWebServerFactoryAutoConfiguration.class, HttpHandlerAutoConfiguration.class,
			WebFluxAutoConfiguration.class, ErrorWebFluxAutoConfiguration.class, EndpointAutoConfiguration.class,
			WebEndpointAutoConfiguration.class, ManagementContextAutoConfiguration.class,
			ReactiveManagementContextAutoConfiguration.class, RateLimitReactorNettyAutoConfiguration.class })
	static class Application {

		/** Tomcat, which is on the class path too, would come first. */
		@Bean
		NettyReactiveWebServerFactory netty() {
			return new NettyReactiveWebServerFactory();
		}

		/** As the limiter does: at once, before the end of the request was read. */
		@Bean
		@Order(Ordered.HIGHEST_PRECEDENCE)
		WebFilter refusal() {
			return (exchange, chain) -> {
				Mono<Void> answer = Mono.defer(() -> {
					exchange.getResponse().setRawStatusCode(429);
					exchange.getResponse().getHeaders().set("Content-Length", "0");
					return exchange.getResponse().setComplete();
				});
				return (exchange.getRequest().getHeaders().getFirst("X-Other-Thread") != null)
						? answer.subscribeOn(Schedulers.parallel()) : answer;
			};
		}

	}

}
