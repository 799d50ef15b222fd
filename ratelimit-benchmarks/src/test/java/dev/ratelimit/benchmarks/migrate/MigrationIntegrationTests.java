package dev.ratelimit.benchmarks.migrate;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import io.github.resilience4j.ratelimiter.RequestNotPermitted;
import io.github.resilience4j.ratelimiter.annotation.RateLimiter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

import dev.ratelimit.aop.RateLimitExceededException;
import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * docs/migrate.md: applications with the configuration of another limiter and with ours
 * decide the same requests, on one Redis.
 */
class MigrationIntegrationTests {

	private static final String GATEWAY = "RequestRateLimiter";

	private static final String BUCKET4J = "Bucket4j's starter";

	private static final String RESILIENCE4J = "Resilience4j's";

	private static final List<Integer> THREE_PASS = List.of(200, 200, 200, 429, 429);

	private static RedisServer redis;

	private static HttpServer upstream;

	@BeforeAll
	static void start() throws Exception {
		redis = RedisServer.start();
		upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		upstream.createContext("/", (exchange) -> {
			exchange.sendResponseHeaders(200, -1);
			exchange.close();
		});
		upstream.start();
	}

	@AfterAll
	static void stop() {
		upstream.stop(0);
		redis.close();
	}

	@BeforeEach
	void flush() {
		redis.flush();
	}

	@Test
	void everyBlockOfThePageIsTried() {
		assertThat(MigrationPage.blocks().stream().map((block) -> block.section() + ": " + block.name()))
			.containsExactly("Spring Cloud Gateway's `RequestRateLimiter`: before",
					"Spring Cloud Gateway's `RequestRateLimiter`: step 1",
					"Spring Cloud Gateway's `RequestRateLimiter`: step 2", "Bucket4j's starter: before",
					"Bucket4j's starter: after", "Resilience4j's `RateLimiter`: before",
					"Resilience4j's `RateLimiter`: after");
	}

	/** Each finds its own counters full, on the same Redis. */
	@Test
	void gatewaysLimiterStandInAndPolicyDecideTheSame() {
		for (String block : List.of("before", "step 1", "step 2")) {
			try (MovedApplication gateway = gateway(MigrationPage.block(GATEWAY, block))) {
				assertThat(gateway.statuses("/orders/1", 5)).as(block).isEqualTo(THREE_PASS);
			}
		}
		assertThat(keys()).anyMatch((key) -> key.startsWith("request_rate_limiter"))
			.anyMatch((key) -> key.matches("rl:.g:.*"));
	}

	@Test
	void standInKeepsTheHeadersOfTheGatewaysLimiter() {
		for (String block : List.of("before", "step 1")) {
			try (MovedApplication gateway = gateway(MigrationPage.block(GATEWAY, block))) {
				assertThat(gateway.get("/orders/1", 1).get(0).headers().map()).as(block)
					.containsEntry("X-RateLimit-Remaining", List.of("40"))
					.containsEntry("X-RateLimit-Replenish-Rate", List.of("1"))
					.containsEntry("X-RateLimit-Burst-Capacity", List.of("60"))
					.containsEntry("X-RateLimit-Requested-Tokens", List.of("20"));
			}
		}
	}

	/** The gateway's limiter stores nothing if burst / rate is below a half. */
	@Test
	void smallBurstIsLimitedByTheStandInOnly() {
		try (MovedApplication gateway = gateway(smallBurst(MigrationPage.block(GATEWAY, "before")))) {
			assertThat(gateway.statusesAtOnce("/orders/1", 10)).containsOnly(200);
		}
		try (MovedApplication gateway = gateway(smallBurst(MigrationPage.block(GATEWAY, "step 1")))) {
			assertThat(gateway.statusesAtOnce("/orders/1", 10)).contains(200, 429);
		}
	}

	@Test
	void bucket4jAndUrlEntryDecideTheSame() {
		try (MovedApplication application = start(Bucket4j.class, BUCKET4J, "before")) {
			assertThat(application.statuses("/api/orders", 5)).isEqualTo(THREE_PASS);
			assertThat(application.statuses("/other", 5)).containsOnly(200);
		}
		try (MovedApplication application = start(Handlers.class, BUCKET4J, "after")) {
			assertThat(application.statuses("/api/orders", 5)).isEqualTo(THREE_PASS);
			assertThat(application.statuses("/other", 5)).containsOnly(200);
		}
	}

	@Test
	void resilience4jAndAnnotationDecideTheSame() {
		List<String> expected = List.of("report", "report", "report", "busy", "busy");
		try (MovedApplication application = start(Resilience4j.class, RESILIENCE4J, "before")) {
			assertThat(application.get("/reports", 5)).map((response) -> response.body()).isEqualTo(expected);
		}
		try (MovedApplication application = start(Annotated.class, RESILIENCE4J, "after")) {
			assertThat(application.get("/reports", 5)).map((response) -> response.body()).isEqualTo(expected);
		}
	}

	/** Resilience4j counts in each process, ours over the fleet. */
	@Test
	void secondInstanceDoublesTheLimitOfResilience4jOnly() {
		assertThat(reportsOfTwoInstances(Resilience4j.class, "before")).isEqualTo(6);
		assertThat(reportsOfTwoInstances(Annotated.class, "after")).isEqualTo(3);
	}

	/** What a policy counted in shadow is not granted again when it is enforced. */
	@Test
	void policyThatLeavesShadowGrantsNoFreshBurst() {
		String shadow = "--ratelimit.policies.orders.mode=shadow";
		// No permit comes back while the second gateway starts.
		String daily = "--ratelimit.policies.orders.limits.per-ip.quota=3/d";
		try (MovedApplication gateway = gateway(MigrationPage.block(GATEWAY, "step 2"), shadow, daily)) {
			assertThat(gateway.statuses("/orders/1", 5)).containsOnly(200);
		}
		try (MovedApplication gateway = gateway(MigrationPage.block(GATEWAY, "step 2"), daily)) {
			assertThat(gateway.statuses("/orders/1", 1)).containsExactly(429);
		}
	}

	private static long reportsOfTwoInstances(Class<?> application, String block) {
		try (MovedApplication first = start(application, RESILIENCE4J, block);
				MovedApplication second = start(application, RESILIENCE4J, block)) {
			return Stream.of(first, second)
				.flatMap((instance) -> instance.get("/reports", 5).stream())
				.filter((response) -> response.body().equals("report"))
				.count();
		}
	}

	private static String smallBurst(String yaml) {
		return yaml.replace("replenishRate: 1", "replenishRate: 3")
			.replace("burstCapacity: 60", "burstCapacity: 1")
			.replace("requestedTokens: 20", "requestedTokens: 1");
	}

	private static MovedApplication gateway(String yaml, String... arguments) {
		String[] all = Stream
			.concat(Stream.of("--UPSTREAM_URI=http://127.0.0.1:" + upstream.getAddress().getPort()),
					Stream.of(arguments))
			.toArray(String[]::new);
		return MovedApplication.start(Gateway.class, redis, yaml, all);
	}

	private static MovedApplication start(Class<?> application, String section, String block) {
		return MovedApplication.start(application, redis, MigrationPage.block(section, block),
				"--bucket4j.enabled=" + (application == Bucket4j.class));
	}

	private static Set<String> keys() {
		return Set.of(redis.cli("KEYS", "*").split("\n"));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Gateway {

		@Bean
		KeyResolver callerAddress() {
			return (exchange) -> Mono.just(exchange.getRequest().getRemoteAddress().getAddress().getHostAddress());
		}

	}

	@RestController
	@EnableAutoConfiguration
	static class Handlers {

		@GetMapping({ "/api/orders", "/other" })
		String any() {
			return "hello";
		}

	}

	/** Its cache is a client of Redis. */
	static class Bucket4j extends Handlers {

		@Bean(destroyMethod = "shutdown")
		RedisClient client(@Value("${spring.data.redis.host}") String host,
				@Value("${spring.data.redis.port}") int port) {
			return RedisClient.create(RedisURI.create(host, port));
		}

	}

	@RestController
	@EnableAutoConfiguration
	static class Resilience4j {

		@RateLimiter(name = "reports", fallbackMethod = "busy")
		@GetMapping("/reports")
		public String report() {
			return "report";
		}

		String busy(RequestNotPermitted refusal) {
			return "busy";
		}

	}

	@RestController
	@EnableAutoConfiguration
	static class Annotated {

		@RateLimited(policy = "reports", fallbackMethod = "busy")
		@GetMapping("/reports")
		public String report() {
			return "report";
		}

		String busy(RateLimitExceededException refusal) {
			return "busy";
		}

	}

}
