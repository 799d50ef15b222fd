package dev.ratelimit.web.reactive;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;

import static org.assertj.core.api.Assertions.assertThat;

class EventLoopsTests {

	private static final Decision ALLOWED = Decision.without(Request.of("orders"), 0, true, Decision.Outcome.ALLOWED,
			Decision.Reason.LIMITS);

	private final EventLoops loops = new EventLoops();

	@Test
	void exchangeGoesOnWhereItCameFromAfterADecisionFromAnotherThread() throws IOException, InterruptedException {
		DisposableServer server = HttpServer.create()
			.port(0)
			.handle(new ReactorHttpHandlerAdapter(WebHttpHandlerBuilder.webHandler(this::threads).build()))
			.bindNow();
		try {
			HttpResponse<String> response = HttpClient.newHttpClient()
				.send(HttpRequest.newBuilder(URI.create("http://localhost:" + server.port())).build(),
						HttpResponse.BodyHandlers.ofString());
			String[] threads = response.body().split(" then ");
			assertThat(threads[1]).isEqualTo(threads[0]).startsWith("reactor-http");
		}
		finally {
			server.disposeNow();
		}
	}

	@Test
	void exchangeOfNoServerGoesOnInParallel() {
		ServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));
		CompletableFuture<Decision> decision = new CompletableFuture<>();
		CompletableFuture<String> thread = this.loops.decided(decision, exchange)
			.map((decided) -> Thread.currentThread().getName())
			.toFuture();
		decision.complete(ALLOWED);
		assertThat(thread.orTimeout(30, TimeUnit.SECONDS).join()).startsWith("parallel-");
	}

	@Test
	void exchangeWithADecisionAtOnceStaysOnItsThread() {
		ServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));
		assertThat(this.loops.decided(CompletableFuture.completedFuture(ALLOWED), exchange)
			.map((decided) -> Thread.currentThread())
			.block()).isSameAs(Thread.currentThread());
	}

	/** Answers with the thread before a decision and the one after it. */
	private Mono<Void> threads(ServerWebExchange exchange) {
		String before = Thread.currentThread().getName();
		CompletableFuture<Decision> decision = new CompletableFuture<>();
		Mono<Void> answer = this.loops.decided(decision, exchange)
			.flatMap((decided) -> exchange.getResponse()
				.writeWith(Mono.just(exchange.getResponse()
					.bufferFactory()
					.wrap((before + " then " + Thread.currentThread().getName()).getBytes(StandardCharsets.UTF_8)))));
		new Thread(() -> decision.complete(ALLOWED)).start();
		return answer;
	}

}
