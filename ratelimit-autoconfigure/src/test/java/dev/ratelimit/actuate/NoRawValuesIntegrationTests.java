package dev.ratelimit.actuate;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitRefusalsAutoConfiguration;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Uses all that there is and then looks for callers' values in whatever has left the
 * process: Redis, the log and the answers of the endpoint. A feature that writes anything
 * about callers belongs into {@link #useEverything} or, if it writes elsewhere, into
 * {@link #written}.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class NoRawValuesIntegrationTests {

	private static final String IP = "198.51.100.77";

	private static final String IPV6 = "2001:db8:77:77:1:2:3:4";

	private static final String USER = "ann.example";

	/** With the group of addresses that is counted as one. */
	private static final List<String> VALUES = List.of(IP, "198.51.100", IPV6, "2001:db8:77:77", USER);

	private static final Request CALLER = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.USER, USER)
		.with(Dimension.IP, IP);

	private final ReactiveWebApplicationContextRunner context = ReactiveEndpoint
		.runner(RateLimitRefusalsAutoConfiguration.class)
		.withBean(AdminCheck.class, () -> AdminCheck.ANYBODY)
		.withPropertyValues("ratelimit.redis.timeout=2s", "ratelimit.hot.threshold=1",
				"ratelimit.identity.hash.user=true", "ratelimit.policies.orders.limits.per-user.by=tenant,user",
				"ratelimit.policies.orders.limits.per-user.quota=30/d", "ratelimit.policies.orders.limits.per-ip.by=ip",
				"ratelimit.policies.orders.limits.per-ip.quota=20/d",
				"ratelimit.policies.orders.limits.per-ip.enforcement=adaptive",
				"ratelimit.policies.slow.algorithm=sliding-window-log", "ratelimit.policies.slow.limits.all.by=ip",
				"ratelimit.policies.slow.limits.all.quota=3/d", "ratelimit.policies.slow.limits.all.split=2",
				"ratelimit.policies.login.limits.per-ip.by=ip", "ratelimit.policies.login.limits.per-ip.quota=1/d",
				"ratelimit.policies.login.penalty.after=1", "ratelimit.policies.login.penalty.ban-after=2");

	@Test
	void noValueOfACallerIsFoundInRedisTheLogOrTheAnswersOfTheEndpoint(RedisServer redis, CapturedOutput output) {
		LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());
		logging.setLogLevel("dev.ratelimit", LogLevel.TRACE);
		try {
			this.context
				.withPropertyValues("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
				.run((context) -> {
					List<String> answers = useEverything(context);
					List<String> written = new ArrayList<>(written(redis));
					written.addAll(answers);
					written.add(output.toString());
					assertThat(written).hasSizeGreaterThan(10)
						.allSatisfy((text) -> VALUES.forEach((value) -> assertThat(text).doesNotContain(value)));
					assertNothingThatCanBeTried(context, written);
				});
		}
		finally {
			logging.setLogLevel("dev.ratelimit", null);
		}
	}

	/** Checks that pass, are refused and lack something; whatever an operator can do. */
	private static List<String> useEverything(ApplicationContext context) {
		for (int i = 0; i < 25; i++) {
			check(context, CALLER);
			check(context, Request.of("slow").with(Dimension.IP, IPV6));
			check(context, Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.IP, IP));
			check(context, Request.of("orders").with(Dimension.IP, IP));
		}
		assertThat(check(context, CALLER).allowed()).isFalse();
		await().atMost(Duration.ofSeconds(30)).until(() -> {
			check(context, CALLER.withCost(0));
			check(context, CALLER);
			return !context.getBean(HotCounters.class).top().isEmpty();
		});
		await().atMost(Duration.ofSeconds(60))
			.until(() -> check(context, Request.of("login").with(Dimension.IP, IP)).reason() == Decision.Reason.BAN);
		String selectors = "?policy=orders&tenant=acme&user=" + USER + "&ip=" + IP;
		List<String> answers = new ArrayList<>();
		answers.add(call(context, HttpMethod.POST, "/hotkeys",
				"{\"policy\": \"orders\", \"limit\": \"per-ip\", \"ip\": \"" + IP + "\", \"for\": \"1h\"}"));
		answers.add(call(context, HttpMethod.GET, "/hotkeys", null));
		answers.add(call(context, HttpMethod.GET, "/hotkeys?by=refusals", null));
		answers.add(call(context, HttpMethod.GET, "/usage" + selectors, null));
		answers.add(call(context, HttpMethod.DELETE, "/usage" + selectors, null));
		answers.add(call(context, HttpMethod.GET, "/usage?policy=slow&ip=" + IPV6, null));
		answers.add(call(context, HttpMethod.GET, "/bans", null));
		answers.add(call(context, HttpMethod.DELETE, "/bans?policy=login&ip=" + IP, null));
		answers.add(call(context, HttpMethod.GET, "", null));
		answers.add(call(context, HttpMethod.GET, "/policies", null));
		answers.add(call(context, HttpMethod.GET, "/audit", null));
		answers.add(await().atMost(Duration.ofSeconds(30))
			.until(() -> call(context, HttpMethod.GET, "/refusals?policy=orders&ip=" + IP, null),
					(refusals) -> refusals.contains("\"limit\"")));
		check(context, CALLER);
		return answers;
	}

	/** All keys and all that they hold. */
	private static List<String> written(RedisServer redis) {
		RedisClient client = RedisClient.create(redis.uri());
		try {
			RedisCommands<byte[], byte[]> commands = client.connect(ByteArrayCodec.INSTANCE).sync();
			commands.configSet("rdbcompression", "no");
			List<String> written = new ArrayList<>();
			for (byte[] key : commands.keys("*".getBytes(StandardCharsets.ISO_8859_1))) {
				written.add(new String(key, StandardCharsets.ISO_8859_1));
				byte[] held = commands.dump(key);
				// A key may expire in between.
				if (held != null) {
					written.add(new String(held, StandardCharsets.ISO_8859_1));
				}
			}
			return written;
		}
		finally {
			client.shutdownAsync();
		}
	}

	/**
	 * Nor a digest or a hash code of them that somebody without the salt could compute.
	 */
	private static void assertNothingThatCanBeTried(ApplicationContext context, List<String> written) {
		PolicyRateLimiter limiter = context.getBean(PolicyRateLimiter.class);
		for (Limit limit : context.getBean(Policies.class).get().find("orders").limits()) {
			List<String> values = limit.by().stream().map((by) -> CALLER.dimensions().get(by)).toList();
			String plain = new CounterKeys("rl").key("orders", Algorithm.GCRA, limit, values);
			String hash = " " + limiter.usage().counters(CALLER, limit.name()).get(0).hashCode();
			assertThat(written).noneMatch((text) -> text.contains(plain)).noneMatch((text) -> text.contains(hash));
		}
	}

	private static Decision check(ApplicationContext context, Request request) {
		return context.getBean(RateLimiter.class).check(request).toCompletableFuture().join();
	}

	private static String call(ApplicationContext context, HttpMethod method, String path, String body) {
		WebTestClient.RequestBodySpec call = WebTestClient.bindToApplicationContext(context)
			.build()
			.method(method)
			.uri("/actuator/ratelimit" + path);
		if (body != null) {
			call.contentType(MediaType.APPLICATION_JSON).bodyValue(body);
		}
		byte[] answer = call.exchange().expectStatus().isOk().expectBody().returnResult().getResponseBody();
		return new String(answer, StandardCharsets.UTF_8);
	}

}
