package dev.ratelimit.web.reactive;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;
import dev.ratelimit.reactive.ReactiveRateLimiter;

import static org.assertj.core.api.Assertions.assertThat;

class EventLoopsTests {

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
		assertThat(this.loops.of(exchange)).isSameAs(Schedulers.parallel());
	}

	/** Answers with the thread before a decision and the one after it. */
	private Mono<Void> threads(ServerWebExchange exchange) {
		String before = Thread.currentThread().getName();
		CompletableFuture<Decision> decision = new CompletableFuture<>();
		Mono<Void> answer = ReactiveRateLimiter.decided(decision, this.loops.of(exchange))
			.flatMap((decided) -> exchange.getResponse()
				.writeWith(Mono.just(exchange.getResponse()
					.bufferFactory()
					.wrap((before + " then " + Thread.currentThread().getName()).getBytes(StandardCharsets.UTF_8)))));
		new Thread(() -> decision.complete(
				Decision.without(Request.of("orders"), 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS)))
			.start();
		return answer;
	}

}
