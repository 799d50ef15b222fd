package dev.ratelimit.benchmarks.load;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.ratelimit.benchmarks.load.Contender.Outcome;

import static org.assertj.core.api.Assertions.assertThat;

class HttpConnectionsTests {

	private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

	private final HttpConnections http = new HttpConnections(
			new InetSocketAddress(this.server.getInetAddress(), this.server.getLocalPort()), 1);

	HttpConnectionsTests() throws IOException {
	}

	@AfterEach
	void close() throws IOException {
		this.http.close();
		this.server.close();
	}

	@Test
	void statusAndHeadersAreTheOutcome() throws Exception {
		List<CompletableFuture<Outcome>> outcomes = send(5);

		try (Socket socket = this.server.accept()) {
			answer(socket, "200 OK", "");
			answer(socket, "429 Too Many Requests", "");
			answer(socket, "200 OK", "X-RateLimit-Remaining: -1\r\n");
			answer(socket, "200 OK", "X-RateLimit-Policy: degraded\r\n");
			answer(socket, "503 Service Unavailable", "");
			assertThat(outcomes).extracting((outcome) -> outcome.get(10, TimeUnit.SECONDS))
				.containsExactly(Outcome.ALLOWED, Outcome.REFUSED, Outcome.FAILED, Outcome.FAILED, Outcome.FAILED);
		}
	}

	@Test
	void requestOfALostConnectionFailsAndTheNextHasAnother() throws Exception {
		List<CompletableFuture<Outcome>> outcomes = send(2);

		this.server.accept().close();
		assertThat(outcomes.get(0).get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.FAILED);
		try (Socket socket = this.server.accept()) {
			answer(socket, "200 OK", "");
			assertThat(outcomes.get(1).get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.ALLOWED);
		}
	}

	@Test
	void requestFailsIfNobodyListens() throws Exception {
		this.server.close();
		assertThat(send(1).get(0).get(10, TimeUnit.SECONDS)).isEqualTo(Outcome.FAILED);
	}

	private List<CompletableFuture<Outcome>> send(int requests) {
		List<CompletableFuture<Outcome>> outcomes = new ArrayList<>();
		for (int i = 0; i < requests; i++) {
			CompletableFuture<Outcome> outcome = new CompletableFuture<>();
			outcomes.add(outcome);
			this.http.send(Unpooled.copiedBuffer("GET / HTTP/1.1\r\nHost: x\r\n\r\n", StandardCharsets.US_ASCII),
					outcome::complete);
		}
		return outcomes;
	}

	private static void answer(Socket socket, String status, String headers) throws IOException {
		InputStream in = socket.getInputStream();
		StringBuilder request = new StringBuilder();
		while (request.indexOf("\r\n\r\n") < 0) {
			request.append((char) in.read());
		}
		String answer = "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: 2\r\n\r\nok";
		socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
	}

}
