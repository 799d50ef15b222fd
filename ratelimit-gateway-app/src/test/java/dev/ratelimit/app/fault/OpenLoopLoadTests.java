package dev.ratelimit.app.fault;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;

class OpenLoopLoadTests {

	private static final Duration TIME = Duration.ofMillis(200);

	private final LoopResources loops = LoopResources.create("server", 1, true);

	private final Phases phases = new Phases();

	private final AtomicInteger arrived = new AtomicInteger();

	private final Sinks.Empty<Void> gate = Sinks.empty();

	private DisposableServer server;

	@AfterEach
	void stop() {
		this.server.disposeNow();
		this.loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block();
	}

	@Test
	void callsAreCountedByPhaseAndAnswer() {
		try (OpenLoopLoad load = load(500, (request, response) -> response.status(status(request)).send())) {
			load.start();
			this.phases.enter(Phase.BEFORE);
			load.run(TIME);
			this.phases.enter(Phase.DURING);
			load.run(TIME);
			load.stop();
			assertThat(load.calls(Phase.BEFORE).sent()).isPositive();
			assertThat(load.calls(Phase.DURING).sent()).isPositive();
			assertThat(load.total(Calls::admitted)).isPositive();
			assertThat(load.total(Calls::refused)).isPositive();
			assertThat(load.total(Calls::admitted) + load.total(Calls::refused)).isEqualTo(load.total(Calls::sent));
		}
	}

	@Test
	void callsAreMadeWhetherTheyAreAnsweredOrNot() {
		try (OpenLoopLoad load = load(200, this::waitAtTheGate)) {
			load.start();
			await().untilAtomic(this.arrived, greaterThanOrEqualTo(50));
			assertThat(load.calls(Phase.WARM_UP).sent()).isZero();
			open();
			load.stop();
			assertThat(load.calls(Phase.WARM_UP).admitted()).isEqualTo(this.arrived.get());
		}
	}

	@Test
	void waitCountsFromWhenACallWasDue() {
		try (OpenLoopLoad load = load(200, this::waitAtTheGate)) {
			load.start();
			load.run(TIME);
			open();
			load.stop();
			assertThat(load.calls(Phase.WARM_UP).latencies().max()).isGreaterThan(TIME.dividedBy(2));
		}
	}

	@Test
	void callsBeyondWhatMayWaitAreCountedAndNotMade() {
		try (OpenLoopLoad load = load(4_000, this::waitAtTheGate)) {
			load.start();
			await().until(() -> load.calls(Phase.WARM_UP).notSent() > 1_000);
			open();
			load.stop();
			assertThat(load.calls(Phase.WARM_UP).failures()).isZero();
		}
	}

	@Test
	void brokenConnectionIsAFailure() {
		try (OpenLoopLoad load = load(10,
				(request, response) -> response.withConnection((connection) -> connection.channel().close()).then())) {
			load.start();
			load.run(TIME);
			load.stop();
			assertThat(load.calls(Phase.WARM_UP).failures()).isEqualTo(load.calls(Phase.WARM_UP).sent()).isPositive();
		}
	}

	private Publisher<Void> waitAtTheGate(HttpServerRequest request, HttpServerResponse response) {
		this.arrived.incrementAndGet();
		return this.gate.asMono().then(response.send());
	}

	private void open() {
		this.gate.tryEmitEmpty().orThrow();
	}

	private static int status(HttpServerRequest request) {
		return request.requestHeaders().get("X-API-Key").endsWith("1") ? 429 : 200;
	}

	private OpenLoopLoad load(int rate, BiFunction<HttpServerRequest, HttpServerResponse, Publisher<Void>> handler) {
		this.server = HttpServer.create().host("127.0.0.1").runOn(this.loops).handle(handler).bindNow();
		URI uri = URI.create("http://127.0.0.1:" + this.server.port() + "/");
		return new OpenLoopLoad(List.of(new Target("test", uri)), rate, Callers.tenants(2), this.phases);
	}

}
