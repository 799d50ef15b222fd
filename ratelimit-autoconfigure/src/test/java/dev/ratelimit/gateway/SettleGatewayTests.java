package dev.ratelimit.gateway;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.zip.GZIPOutputStream;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerResponse;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A gateway that takes an estimate and reads the true cost from the responses of a real
 * upstream. Each test has an API key of its own, with 1,000 permits.
 */
@SpringBootTest(classes = SettleGatewayTests.Application.class,
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "spring.main.web-application-type=reactive")
class SettleGatewayTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final String USAGE = "{\"id\": \"a\\\"b\", \"choices\": [{\"usage\": {\"total_tokens\": 7}}],"
			+ " \"usage\": {\"prompt_tokens\": 23, \"total_tokens\": 123, \"completion_tokens\": 100}}";

	private static final DisposableServer UPSTREAM = upstream();

	@Autowired
	private WebTestClient client;

	@Autowired
	private RateLimiter limiter;

	@Autowired
	private MeterRegistry meters;

	@LocalServerPort
	private int port;

	private String key;

	@DynamicPropertySource
	static void configure(DynamicPropertyRegistry registry) {
		String routes = "spring.cloud.gateway.server.webflux.routes";
		String[] policies = { "json", "sum", "header", "status", "down", "paths", "priced" };
		for (int i = 0; i < policies.length; i++) {
			String policy = policies[i];
			registry.add(routes + "[" + i + "].id", () -> policy);
			registry.add(routes + "[" + i + "].uri", () -> "http://127.0.0.1:" + UPSTREAM.port());
			registry.add(routes + "[" + i + "].predicates[0]", () -> "Path=/" + policy + "/**");
			registry.add(routes + "[" + i + "].filters[0]", () -> "StripPrefix=1");
			registry.add(routes + "[" + i + "].filters[1]",
					() -> "RateLimit=" + policy + (policy.equals("priced") ? ",250" : ""));
			String at = "ratelimit.policies." + policy;
			registry.add(at + ".limits.per-key.by", () -> "api-key");
			registry.add(at + ".limits.per-key.quota", () -> "1000/30d");
			registry.add(at + ".cost.estimate", () -> 400);
		}
		registry.add("ratelimit.policies.json.cost.settle-json", () -> "usage.total_tokens");
		registry.add("ratelimit.policies.sum.cost.settle-json[0]", () -> "usage.prompt_tokens");
		registry.add("ratelimit.policies.sum.cost.settle-json[1]", () -> "usage.completion_tokens");
		registry.add("ratelimit.policies.header.cost.settle-header", () -> "X-Tokens-Used");
		registry.add("ratelimit.policies.status.cost.settle-status.2xx", () -> 0);
		registry.add("ratelimit.policies.status.cost.settle-status.202", () -> 10);
		registry.add("ratelimit.policies.status.cost.settle-header", () -> "X-Tokens-Used");
		registry.add("ratelimit.policies.down.cost.settle-status.5xx", () -> 0);
		registry.add("ratelimit.policies.paths.cost.settle-json", () -> "usage.total_tokens");
		registry.add("ratelimit.policies.paths.costs[/paths/usage]", () -> 300);
		registry.add("ratelimit.policies.paths.costs[/paths/text]", () -> 200);
		registry.add("ratelimit.policies.priced.cost.settle-json", () -> "usage.total_tokens");
		registry.add("ratelimit.policies.priced.costs[/priced/usage]", () -> 300);
		registry.add("ratelimit.backend", () -> "memory");
		registry.add("ratelimit.policies-store.type", () -> "none");
	}

	@BeforeEach
	void callerOfItsOwn() {
		this.key = UUID.randomUUID().toString();
	}

	@AfterAll
	static void stop() {
		UPSTREAM.disposeNow();
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', value = { "json; /usage; 877; refunded", "sum; /usage; 877; refunded",
			"json; /gzip; 877; refunded", "json; /events; 850; refunded", "sum; /events; 830; refunded",
			"json; /expensive; 0; settled", "json; /no-number; 600; estimated", "json; /brotli; 600; estimated",
			"json; /text; 600; estimated", "json; /many-events; 500; settled", "json; /few-events; 600; settled",
			"header; /header; 958; refunded", "header; /trailer; 944; refunded", "header; /usage; 600; estimated",
			"header; /bad-header; 600; estimated", "status; /usage; 1000; refunded", "status; /accepted; 990; refunded",
			"status; /failed; 980; refunded", "down; /cut; 1000; refunded" })
	void responseNamesTheTrueCost(String policy, String path, long remaining, String outcome) {
		double before = settled(policy, outcome);
		this.client.mutate()
			.responseTimeout(LONG)
			.build()
			.get()
			.uri("/" + policy + path)
			.header("X-API-Key", this.key)
			.exchange()
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "600")
			.expectBody()
			.returnResult();
		await().atMost(LONG).untilAsserted(() -> assertThat(remaining(policy)).isEqualTo(remaining));
		await().atMost(LONG).untilAsserted(() -> assertThat(settled(policy, outcome)).isEqualTo(before + 1));
	}

	/** The estimate of the policies is 400. */
	@ParameterizedTest
	@CsvSource(delimiter = ';',
			value = { "paths; /usage; 700; 877; refunded", "paths; /text; 800; 800; estimated",
					"paths; /no-number; 600; 600; estimated", "priced; /usage; 750; 877; refunded",
					"priced; /no-number; 750; 750; estimated" })
	void costOfTheRouteOrThePathTakesPrecedenceOverTheEstimate(String policy, String path, String shown, long remaining,
			String outcome) {
		double before = settled(policy, outcome);
		this.client.mutate()
			.responseTimeout(LONG)
			.build()
			.get()
			.uri("/" + policy + path)
			.header("X-API-Key", this.key)
			.exchange()
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", shown)
			.expectBody()
			.returnResult();
		await().atMost(LONG).untilAsserted(() -> assertThat(settled(policy, outcome)).isEqualTo(before + 1));
		await().atMost(LONG).untilAsserted(() -> assertThat(remaining(policy)).isEqualTo(remaining));
	}

	@ParameterizedTest
	@ValueSource(strings = { "br", "zstd, gzip;q=0.5", "*" })
	void callerDoesNotChooseAnEncodingThatCannotBeRead(String accepted) {
		this.client.mutate()
			.responseTimeout(LONG)
			.build()
			.get()
			.uri("/json/negotiated")
			.header("X-API-Key", this.key)
			.header("Accept-Encoding", accepted)
			.exchange()
			.expectBody()
			.returnResult();
		await().atMost(LONG).untilAsserted(() -> assertThat(remaining("json")).isEqualTo(877));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "gzip;q=0, br | identity", "br, GZIP ; Q=0.000 | identity", "gzip;q=none | identity",
					"agzip | identity", "gzip;q=0.5 | gzip", "br;q=1, gzip;q=1.0 | gzip", "x-gzip | gzip" })
	void upstreamIsAskedForGzipOnlyIfTheCallerTakesIt(String accepted, String asked) {
		this.client.mutate()
			.responseTimeout(LONG)
			.build()
			.get()
			.uri("/json/encoding")
			.header("X-API-Key", this.key)
			.header("Accept-Encoding", accepted)
			.exchange()
			.expectBody(String.class)
			.isEqualTo(asked);
	}

	@Test
	void bodyReachesTheClientUnchanged() {
		this.client.mutate()
			.responseTimeout(LONG)
			.build()
			.get()
			.uri("/json/usage")
			.header("X-API-Key", this.key)
			.exchange()
			.expectBody(String.class)
			.isEqualTo(USAGE);
	}

	@ParameterizedTest
	@CsvSource({ "1, 600", "450, 550" })
	void bodyIsNotHeldBackAndAClientThatHangsUpPaysForTheEventsSeen(int events, long remaining) {
		double before = settled("json", "settled");
		List<String> seen = WebClient.create("http://127.0.0.1:" + this.port)
			.get()
			.uri("/json/endless/" + events)
			.header("X-API-Key", this.key)
			.retrieve()
			.bodyToFlux(String.class)
			.take(events)
			.collectList()
			.block(LONG);
		assertThat(seen).hasSize(events);
		// The client has cancelled, and the upstream sends nothing more.
		await().atMost(LONG).untilAsserted(() -> assertThat(settled("json", "settled")).isEqualTo(before + 1));
		assertThat(remaining("json")).isEqualTo(remaining);
	}

	private long remaining(String policy) {
		return join(this.limiter.check(Request.of(policy).withUnverified(Dimension.API_KEY, this.key).withCost(0)))
			.remaining();
	}

	private double settled(String policy, String outcome) {
		Counter counter = this.meters.find("ratelimit.settle").tags("policy", policy, "outcome", outcome).counter();
		return (counter != null) ? counter.count() : 0;
	}

	private static DisposableServer upstream() {
		return HttpServer.create()
			.host("127.0.0.1")
			.port(0)
			.route((routes) -> routes
				.get("/usage", (request, response) -> json(response).sendString(Flux.fromArray(USAGE.split("(?<=,)"))))
				.get("/expensive",
						(request, response) -> json(response)
							.sendString(Mono.just("{\"usage\":{\"total_tokens\":1e3}}")))
				.get("/no-number",
						(request, response) -> json(response)
							.sendString(Mono.just("{\"usage\": {\"total_tokens\": \"12\"}, \"total_tokens\": 5}")))
				.get("/text", (request, response) -> response.sendString(Mono.just(USAGE)))
				.get("/gzip",
						(request, response) -> json(response).header("Content-Encoding", "gzip")
							.sendByteArray(Flux.fromArray(pieces(gzip(USAGE)))))
				.get("/negotiated", (request, response) -> {
					String accepted = String.valueOf(request.requestHeaders().get("Accept-Encoding"));
					return accepted.matches("gzip|identity") ? json(response).sendString(Mono.just(USAGE))
							: json(response).header("Content-Encoding", "br").sendString(Mono.just("?"));
				})
				.get("/encoding",
						(request, response) -> response
							.sendString(Mono.just(String.valueOf(request.requestHeaders().get("Accept-Encoding")))))
				.get("/brotli",
						(request, response) -> json(response).header("Content-Encoding", "br")
							.send(Mono.just(Unpooled.wrappedBuffer(USAGE.getBytes(StandardCharsets.UTF_8)))))
				.get("/events", (request, response) -> response.sse()
					.sendString(Flux.just("data: {\"usage\": null}\n\n",
							"event: x\ndata: {\"usage\": {\"prompt_tokens\": 70, \"total_", "tokens\": 90}}\n\n",
							"data: {\"usage\": {\"completion_tokens\": 100, \"total_tokens\": 150}}\n\n",
							"data: [DONE]\n\n")))
				.get("/many-events",
						(request, response) -> response.sse()
							.sendString(Flux.range(0, 500).map((i) -> ": note\ndata: {\"i\": " + i + "}\n\n")))
				.get("/few-events", (request, response) -> response.sse().sendString(Flux.just("data: {}\n\n")))
				.get("/endless/{events}", (request, response) -> response.sse()
					.sendString(Flux.concat(Flux.range(0, Integer.parseInt(request.param("events"))), Flux.never())
						.map((event) -> "data: {\"event\": " + event + "}\n\n"), StandardCharsets.UTF_8))
				.get("/header",
						(request, response) -> response.header("X-Tokens-Used", "42").sendString(Mono.just("ok")))
				.get("/bad-header",
						(request, response) -> response.header("X-Tokens-Used", "many").sendString(Mono.just("ok")))
				.get("/trailer",
						(request, response) -> response.header("Trailer", "X-Tokens-Used")
							.trailerHeaders((trailers) -> trailers.set("X-Tokens-Used", "56"))
							.sendString(Flux.just("o", "k")))
				.get("/cut", (request, response) -> {
					request.withConnection((connection) -> connection.channel().close());
					return Mono.never();
				})
				.get("/accepted", (request, response) -> response.status(202).send())
				.get("/failed",
						(request, response) -> response.status(500)
							.header("X-Tokens-Used", "20")
							.sendString(Mono.just("failed"))))
			.bindNow();
	}

	private static HttpServerResponse json(HttpServerResponse response) {
		return response.header("Content-Type", "application/json; charset=utf-8");
	}

	private static byte[] gzip(String text) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
			out.write(text.getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		return bytes.toByteArray();
	}

	/** In pieces of 7 bytes, so that header and content are cut. */
	private static byte[][] pieces(byte[] all) {
		byte[][] pieces = new byte[(all.length + 6) / 7][];
		for (int i = 0; i < pieces.length; i++) {
			pieces[i] = Arrays.copyOfRange(all, 7 * i, Math.min(all.length, 7 * i + 7));
		}
		return pieces;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class)
	static class Application {

		@Bean
		NettyReactiveWebServerFactory netty() {
			return new NettyReactiveWebServerFactory();
		}

		@Bean
		MeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.authorizeExchange((exchange) -> exchange.anyExchange().permitAll())
				.build();
		}

	}

}
