package dev.ratelimit.gateway;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.config.StartupFailures;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.json.JsonReader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * What clients see of the filter {@code RateLimit}, on both gateways with a real
 * upstream. Each test has an API key of its own, so that the tests share an application
 * and no counter.
 */
@ExtendWith(OutputCaptureExtension.class)
class GatewayContractTests {

	private static final String USAGE = "{\"answer\": \"ü\", \"usage\": {\"total_tokens\": 123}}";

	private static final String[] POLICIES = { policy("orders", "api-key", "3/h"),
			policy("costly", "api-key", "10/h") + "\nratelimit.policies.costly.costs[/costly/export]=4",
			policy("wide", "api-key", "10/h"), policy("narrow", "api-key", "1/h"), policy("once", "api-key", "10/h"),
			policy("routes", "route", "2/h"),
			policy("members", "user", "3/h") + "\nratelimit.policies.members.on-missing-identity=deny",
			policy("chat", "api-key", "1000/30d") + "\nratelimit.policies.chat.cost.estimate=400"
					+ "\nratelimit.policies.chat.cost.settle-json=usage.total_tokens"
					+ "\nratelimit.policies.chat.cost.settle-header=X-Tokens-Used"
					+ "\nratelimit.policies.chat.cost.settle-status.5xx=0",
			"ratelimit.urls.once.path=/once/**\nratelimit.urls.once.policy=once\nratelimit.urls.once.cost=2",
			"ratelimit.urls.entry.path=/entry/**\nratelimit.urls.entry.policy=wide",
			"ratelimit.urls.chat.path=/chat-entry/**\nratelimit.urls.chat.policy=chat" };

	private static final List<String> ROUTES = List.of("orders =RateLimit=orders", "two =RateLimit=orders,2",
			"four =RateLimit=orders,4", "costly =RateLimit=costly", "both =RateLimit=wide =RateLimit=narrow",
			"once =RateLimit=once,3", "entry =RateLimit=narrow", "routes =RateLimit=routes",
			"other-route =RateLimit=routes", "members =RateLimit=members", "chat =RateLimit=chat", "chat-entry",
			"long .name=RateLimit .args.policy=orders .args.cost=2",
			"spaced .name=RateLimit .args.policy=orders .args.cost=${test.spaced}", "hex =RateLimit=wide,0x1", "free");

	private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(30)).build();

	private static final Map<GatewayKind, ConfigurableApplicationContext> STARTED = new EnumMap<>(GatewayKind.class);

	private static final ExecutorService THREADS = Executors.newCachedThreadPool();

	private static HttpServer upstream;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void startUpstream() throws IOException {
		upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		upstream.createContext("/", GatewayContractTests::answer);
		upstream.setExecutor(THREADS);
		upstream.start();
	}

	@AfterAll
	static void stop() {
		STARTED.values().forEach(ConfigurableApplicationContext::close);
		STARTED.clear();
		upstream.stop(0);
		THREADS.shutdown();
	}

	private static void answer(HttpExchange exchange) throws IOException {
		String path = exchange.getRequestURI().getPath();
		String accepted = String.join(", ",
				exchange.getRequestHeaders().getOrDefault("Accept-Encoding", List.of("none")));
		exchange.getResponseHeaders().add("X-Upstream", "yes");
		exchange.getResponseHeaders().add("X-Accepted", accepted);
		exchange.getResponseHeaders().add("X-RateLimit-Remaining", "77");
		byte[] body = (path.equals("/usage") || path.equals("/gzip")) ? USAGE.getBytes(StandardCharsets.UTF_8)
				: "hello".getBytes(StandardCharsets.UTF_8);
		if (body.length > 5) {
			exchange.getResponseHeaders().add("Content-Type", "application/json");
		}
		if (path.equals("/gzip") && accepted.equals("gzip")) {
			exchange.getResponseHeaders().add("Content-Encoding", "gzip");
			body = gzip(body);
		}
		if (path.equals("/header")) {
			exchange.getResponseHeaders().add("X-Tokens-Used", "42");
		}
		exchange.sendResponseHeaders(path.equals("/failed") ? 500 : 200, body.length);
		exchange.getResponseBody().write(body);
		exchange.close();
	}

	private static byte[] gzip(byte[] bytes) {
		ByteArrayOutputStream compressed = new ByteArrayOutputStream();
		try (GZIPOutputStream stream = new GZIPOutputStream(compressed)) {
			stream.write(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return compressed.toByteArray();
	}

	@ParameterizedTest
	@EnumSource
	void allowedResponseHasOurHeadersInPlaceOfTheUpstreams(GatewayKind gateway) {
		HttpResponse<String> response = get(gateway, "/orders/hello");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.body()).isEqualTo("hello");
		assertThat(response.headers().allValues("X-Upstream")).containsExactly("yes");
		assertThat(response.headers().allValues("X-RateLimit-Limit")).containsExactly("3");
		assertThat(response.headers().allValues("X-RateLimit-Remaining")).containsExactly("2");
		assertThat(response.headers().allValues("X-RateLimit-Policy")).containsExactly("orders");
		assertThat(response.headers().allValues("RateLimit-Policy")).containsExactly("\"per-api-key\";q=3;w=3600");
	}

	@ParameterizedTest
	@EnumSource
	void refusedResponseIsAProblemWithRetryAfter(GatewayKind gateway) {
		for (int i = 0; i < 3; i++) {
			assertThat(get(gateway, "/orders/hello").statusCode()).isEqualTo(200);
		}
		HttpResponse<String> refused = get(gateway, "/orders/hello");
		assertThat(refused.statusCode()).isEqualTo(429);
		assertThat(refused.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(refused.headers().allValues("X-RateLimit-Remaining")).containsExactly("0");
		assertThat(refused.headers().allValues("X-RateLimit-Scope")).containsExactly("api-key");
		assertThat(refused.headers().firstValue("X-Upstream")).isEmpty();
		String retryAfter = refused.headers().firstValue("Retry-After").orElseThrow();
		assertThat(json(refused))
			.containsEntry("type", "https://iana.org/assignments/http-problem-types#quota-exceeded")
			.containsEntry("status", 429)
			.containsEntry("policy", "orders")
			.containsEntry("limit", "per-api-key")
			.containsEntry("scope", "api-key")
			.containsEntry("quota", "3/h")
			.containsEntry("detail", "Limit of 3 per 3600 s exceeded for api-key")
			.containsEntry("retryAfter", Integer.valueOf(retryAfter))
			.doesNotContainKey("url");
	}

	@ParameterizedTest
	@EnumSource
	void costOfTheFilterIsCharged(GatewayKind gateway) {
		assertThat(remaining(get(gateway, "/two/hello"))).containsExactly("1");
		HttpResponse<String> never = get(gateway, "/four/hello");
		assertThat(never.statusCode()).isEqualTo(429);
		assertThat(never.headers().firstValue("Retry-After")).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void longFormHasPolicyAndCost(GatewayKind gateway) {
		assertThat(remaining(get(gateway, "/long/hello"))).containsExactly("1");
	}

	@ParameterizedTest
	@EnumSource
	void withoutACostTheCostsOfThePolicyDecide(GatewayKind gateway) {
		assertThat(remaining(get(gateway, "/costly/hello"))).containsExactly("9");
		assertThat(remaining(get(gateway, "/costly/export"))).containsExactly("5");
	}

	@ParameterizedTest
	@EnumSource
	void routeInJavaHasTheSameFilter(GatewayKind gateway) {
		HttpResponse<String> response = get(gateway, "/in-java/hello");
		assertThat(response.body()).isEqualTo("hello");
		assertThat(remaining(response)).containsExactly("1");
		assertThat(get(gateway, "/in-java/hello").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@EnumSource
	void refusalByTheSecondFilterGivesBackWhatTheFirstTook(GatewayKind gateway) {
		HttpResponse<String> first = get(gateway, "/both/hello");
		assertThat(first.headers().allValues("X-RateLimit-Policy")).containsExactly("narrow");
		assertThat(remaining(first)).containsExactly("0");
		HttpResponse<String> refused = get(gateway, "/both/hello");
		assertThat(refused.statusCode()).isEqualTo(429);
		assertThat(refused.headers().allValues("X-RateLimit-Policy")).containsExactly("narrow");
		assertThat(left(gateway, "wide")).isEqualTo(9);
	}

	@ParameterizedTest
	@EnumSource
	void refusalByTheFilterGivesBackWhatAUrlEntryTook(GatewayKind gateway) {
		assertThat(get(gateway, "/entry/hello").statusCode()).isEqualTo(200);
		HttpResponse<String> refused = get(gateway, "/entry/hello");
		assertThat(refused.statusCode()).isEqualTo(429);
		assertThat(json(refused)).containsEntry("policy", "narrow").doesNotContainKey("url");
		assertThat(left(gateway, "wide")).isEqualTo(9);
	}

	@ParameterizedTest
	@EnumSource
	void policyThatAUrlEntryNamesTooIsChargedOnceWithTheLargerCost(GatewayKind gateway) {
		assertThat(remaining(get(gateway, "/once/hello"))).containsExactly("7");
		assertThat(left(gateway, "once")).isEqualTo(7);
	}

	@ParameterizedTest
	@EnumSource
	void routeIsTheIdOfTheRoute(GatewayKind gateway) {
		assertThat(get(gateway, "/routes/a").statusCode()).isEqualTo(200);
		assertThat(get(gateway, "/routes/b").statusCode()).isEqualTo(200);
		assertThat(get(gateway, "/routes/c").statusCode()).isEqualTo(429);
		assertThat(get(gateway, "/other-route/a").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@EnumSource
	void missingIdentityIsUnauthorizedWhereThePolicySaysSo(GatewayKind gateway) {
		assertThat(get(gateway, "/members/hello").statusCode()).isEqualTo(401);
	}

	@ParameterizedTest
	@EnumSource
	void unknownPolicyOfARouteInJavaIsAnsweredByTheSetting(GatewayKind gateway) {
		assertThat(get(gateway, "/unknown-in-java/hello").statusCode()).isEqualTo(503);
	}

	@ParameterizedTest
	@EnumSource
	void degradedPolicyThatDeniesIsUnavailable(GatewayKind gateway) {
		try (ConfigurableApplicationContext context = gateway.start(upstream(), List.of("orders =RateLimit=orders"),
				properties("ratelimit.switch.mode=deny"))) {
			HttpResponse<String> response = get(context, "/orders/hello", "X-API-Key", this.key);
			assertThat(response.statusCode()).isEqualTo(503);
			assertThat(response.headers().firstValue("Retry-After")).isPresent();
			assertThat(response.headers().firstValue("X-Upstream")).isEmpty();
			assertThat(json(response)).containsEntry("status", 503).containsEntry("policy", "orders");
		}
	}

	@ParameterizedTest
	@EnumSource
	void disabledFilterLetsEveryRequestPass(GatewayKind gateway) {
		try (ConfigurableApplicationContext context = gateway.start(upstream(), List.of("orders =RateLimit=orders,3"),
				properties("ratelimit.enabled=false"))) {
			for (String path : List.of("/orders/hello", "/orders/hello", "/in-java/hello", "/in-java/hello")) {
				HttpResponse<String> response = get(context, path, "X-API-Key", this.key);
				assertThat(response.statusCode()).as(path).isEqualTo(200);
				assertThat(response.body()).isEqualTo("hello");
				assertThat(response.headers().map()).doesNotContainKey("x-ratelimit-policy");
			}
		}
	}

	@Test
	void routeInJavaWithoutALimiterNamesTheFix(CapturedOutput output) {
		try (ConfigurableApplicationContext context = GatewayKind.WEBMVC.start(upstream(), List.of(),
				properties("spring.autoconfigure.exclude=" + GatewayKind.WEBMVC.excluded() + ','
						+ RateLimitGatewayMvcAutoConfiguration.class.getName()))) {
			assertThat(get(context, "/in-java/hello", "X-API-Key", this.key).statusCode()).isEqualTo(500);
			assertThat(output).contains("Do not exclude RateLimitGatewayMvcAutoConfiguration")
				.contains("set 'ratelimit.enabled' to false");
		}
	}

	static Stream<Arguments> settled() {
		return Stream.of(GatewayKind.values())
			.flatMap((gateway) -> Stream.of("chat", "chat-entry")
				.flatMap((route) -> Stream.of(Arguments.of(gateway, "/" + route + "/usage", 123),
						Arguments.of(gateway, "/" + route + "/gzip", 123),
						Arguments.of(gateway, "/" + route + "/header", 42),
						Arguments.of(gateway, "/" + route + "/failed", 0),
						Arguments.of(gateway, "/" + route + "/hello", 400))));
	}

	@ParameterizedTest
	@MethodSource("settled")
	void responseOfTheUpstreamNamesTheTrueCost(GatewayKind gateway, String path, long cost) {
		HttpResponse<String> response = get(gateway, path, "Accept-Encoding", "br, gzip");
		assertThat(response.headers().allValues("X-Accepted")).containsExactly("gzip");
		assertThat(remaining(response)).containsExactly("600");
		await().untilAsserted(() -> assertThat(left(gateway, "chat")).isEqualTo(1000 - cost));
	}

	@ParameterizedTest
	@EnumSource
	void callerDoesNotChooseAnEncodingThatCannotBeRead(GatewayKind gateway) {
		HttpResponse<String> response = get(gateway, "/chat/usage", "Accept-Encoding", "br");
		assertThat(response.headers().allValues("X-Accepted")).containsExactly("identity");
		assertThat(response.body()).isEqualTo(USAGE);
		assertThat(get(gateway, "/free/usage", "Accept-Encoding", "br").headers().allValues("X-Accepted"))
			.containsExactly("br");
	}

	@ParameterizedTest
	@EnumSource
	void routeIsAUseOfItsPolicy(GatewayKind gateway) {
		assertThat(application(gateway).getBeanProvider(PolicyUses.class)
			.stream()
			.flatMap((uses) -> uses.of("orders").stream())).contains("route 'orders'", "route 'long'")
			.doesNotContain("route 'free'");
	}

	@ParameterizedTest
	@EnumSource
	void unknownPolicyFailsTheStartWithTheNearestName(GatewayKind gateway) {
		requireFailure(gateway, "a =RateLimit=ordres",
				"The RateLimit filter of route 'a' names policy 'ordres', which does not exist.",
				"Did you mean 'orders'?");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = {
			"WEBMVC | a .name=RateLimit .args.policy=orders .args.dimensions.shop=#{@shop} | The RateLimit filter of route 'a' has 'dimensions', which only the gateway on WebFlux knows. | Declare them under 'ratelimit.dimensions'",
			"WEBMVC | a .name=RateLimit .args.policy=orders .args.costs=5 | has the argument 'costs', which does not exist. | '- RateLimit=<policy>,<cost>'",
			"WEBMVC | a .name=RateLimit .args.cost=5 | names no policy. | '- RateLimit=<policy>'",
			"WEBMVC | a =RateLimit=orders,many | has the cost 'many', which is no number from 0 to 90000000. | '- RateLimit=<policy>,<cost>'",
			"WEBMVC | a =RateLimit=orders,-1 | has the cost '-1' | '- RateLimit=<policy>,<cost>'",
			"WEBMVC | a .name=RateLimit .args.policy=orders .args.cost= | has the cost '', which is no number | '- RateLimit=<policy>,<cost>'",
			"WEBMVC | a =RateLimit=orders,#{2+3} | has the cost '#{2+3}', which is no number | '- RateLimit=<policy>,<cost>'",
			"WEBFLUX | a =RateLimit=orders,-1 | The RateLimit filter of route 'a' has the cost '-1' | '- RateLimit=<policy>,<cost>'",
			"WEBFLUX | a .name=RateLimit .args.cost=5 | names no policy. | '- RateLimit=<policy>'",
			"WEBMVC | a =RateLimit=orders,1,2 | has more than two arguments. | '- RateLimit=<policy>,<cost>'" })
	void mistakeInAFilterFailsTheStartWithAFix(GatewayKind gateway, String route, String problem, String fix) {
		requireFailure(gateway, route, problem, fix);
	}

	@ParameterizedTest
	@EnumSource
	void costIsWrittenAsSpringReadsNumbers(GatewayKind gateway) {
		assertThat(remaining(get(gateway, "/spaced/hello"))).containsExactly("1");
		assertThat(remaining(get(gateway, "/hex/hello"))).containsExactly("9");
	}

	@Test
	void costOnWebFluxIsAlsoEmptyOrAnExpression() {
		try (ConfigurableApplicationContext context = GatewayKind.WEBFLUX.start(upstream(),
				List.of("empty .name=RateLimit .args.policy=orders .args.cost=${test.unset:}",
						"expression .name=RateLimit .args.policy=wide .args.cost=${test.expression}"),
				properties("test.expression= #{1+1}"))) {
			assertThat(remaining(get(context, "/empty/hello", "X-API-Key", this.key))).containsExactly("2");
			assertThat(remaining(get(context, "/expression/hello", "X-API-Key", this.key))).containsExactly("8");
		}
	}

	@ParameterizedTest
	@EnumSource
	void costThatNeverFitsIsAWarning(GatewayKind gateway, CapturedOutput output) {
		try (ConfigurableApplicationContext context = gateway.start(upstream(), List.of("a =RateLimit=orders,4"),
				properties())) {
			assertThat(context.isActive()).isTrue();
			assertThat(output).contains("route 'a' costs 4 permits, but policy 'orders' never has more than 3");
		}
	}

	@Test
	void sampleOfTheGatewayOnWebMvcLimitsItsRoutes() {
		try (ConfigurableApplicationContext context = GatewayKind.WEBMVC.start(upstream(), List.of(),
				"spring.config.additional-location=file:../config-samples/gateway-mvc.yml", "ORDERS_URI=" + upstream(),
				"REPORTS_URI=" + upstream())) {
			HttpResponse<String> orders = get(context, "/orders/hello", "X-A", "b");
			assertThat(orders.statusCode()).isEqualTo(200);
			assertThat(orders.headers().allValues("X-RateLimit-Policy")).containsExactly("orders");
			assertThat(get(context, "/reports/hello", "X-A", "b").statusCode()).isEqualTo(401);
		}
	}

	private static void requireFailure(GatewayKind gateway, String route, String problem, String fix) {
		Throwable failure = catchThrowable(() -> gateway.start(upstream(), List.of(route), properties()).close());
		assertThat(failure).isNotNull();
		assertThat(StartupFailures.analyze(failure)).as(failure.toString()).satisfies((analysis) -> {
			assertThat(analysis.getDescription()).contains(problem);
			assertThat(analysis.getAction()).contains(fix);
		});
	}

	private HttpResponse<String> get(GatewayKind gateway, String path) {
		return get(application(gateway), path, "X-API-Key", this.key);
	}

	private HttpResponse<String> get(GatewayKind gateway, String path, String name, String value) {
		return get(application(gateway), path, "X-API-Key", this.key, name, value);
	}

	private static HttpResponse<String> get(ConfigurableApplicationContext context, String path, String... headers) {
		String port = context.getEnvironment().getProperty("local.server.port");
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
			.timeout(Duration.ofSeconds(60))
			.headers(headers)
			.build();
		try {
			return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static List<String> remaining(HttpResponse<String> response) {
		return response.headers().allValues("X-RateLimit-Remaining");
	}

	/** Permits that the key has left. */
	private long left(GatewayKind gateway, String policy) {
		return application(gateway).getBean(RateLimiter.class)
			.check(Request.of(policy).with(Dimension.API_KEY, this.key).withCost(0))
			.toCompletableFuture()
			.join()
			.remaining();
	}

	private static Map<String, Object> json(HttpResponse<String> response) {
		return JsonReader.object(response.body());
	}

	private static ConfigurableApplicationContext application(GatewayKind gateway) {
		return STARTED.computeIfAbsent(gateway, (absent) -> gateway.start(upstream(), ROUTES,
				properties("ratelimit.on-unknown-policy=deny", "test.spaced= 2")));
	}

	private static String upstream() {
		return "http://127.0.0.1:" + upstream.getAddress().getPort();
	}

	private static String[] properties(String... more) {
		return Stream.concat(Stream.of(POLICIES).flatMap(String::lines), Stream.of(more)).toArray(String[]::new);
	}

	private static String policy(String id, String by, String quota) {
		String at = "ratelimit.policies." + id + ".limits.per-" + by;
		return at + ".by=" + by + "\n" + at + ".quota=" + quota;
	}

}
