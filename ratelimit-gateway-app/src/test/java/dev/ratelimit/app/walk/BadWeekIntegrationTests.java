package dev.ratelimit.app.walk;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.ReactorResourceFactory;

import dev.ratelimit.app.RateLimitGatewayApplication;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The bad week of docs/operations.md: its commands are run against two gateways on one
 * Redis, which is killed, frozen and written to as the docs say, and print the same but
 * for times of day.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(300)
class BadWeekIntegrationTests {

	/** Calls of Wednesday while Redis stands still. */
	private static final int WHILE_AWAY = 3;

	@TempDir
	private static Path folder;

	private static RedisServer redis;

	private static final List<ConfigurableApplicationContext> gateways = new ArrayList<>();

	private static final Map<String, Integer> ports = new ConcurrentHashMap<>();

	private static WalkThrough docs;

	private static Walk walk;

	@BeforeAll
	static void start() throws IOException {
		docs = WalkThrough.read("A bad week");
		redis = RedisServer.start();
		gateways.add(gateway(0));
		gateways.add(gateway(1));
		walk = new Walk(new Terminal(new Curl(ports), new RedisCli(redis)), () -> gateways);
		walk.follow(WalkThrough.read("A walk-through").step(""));
	}

	@AfterAll
	static void end() {
		gateways.forEach(ConfigurableApplicationContext::close);
		redis.close();
	}

	@Test
	@Order(1)
	void wrongEditIsFoundInTheTrailAndTakenBack() {
		walk.follow(docs.step("Monday: a wrong edit"));
	}

	@Test
	@Order(2)
	void policiesSurviveARedisThatComesBackEmpty() {
		redis.kill();
		redis.restart();
		walk.follow(docs.step("Tuesday: Redis loses its data"));
	}

	@Test
	@Order(3)
	void gatewayStartsFromItsSnapshotFileWhileTheStoreIsAway() {
		List<WalkThrough.Call> calls = docs.step("Wednesday: the store is away at a restart");
		redis.freeze();
		gateways.remove(1).close();
		gateways.add(gateway(1));
		walk.follow(calls.subList(0, WHILE_AWAY));
		redis.thaw();
		walk.follow(calls.subList(WHILE_AWAY, calls.size()));
	}

	@Test
	@Order(4)
	void whatANewerReleaseWritesIsEnforcedWithoutTheUnknown(CapturedOutput output) {
		walk.follow(docs.step("Thursday: two releases side by side"));
		assertThat(output).contains("of policy 'demo-orders' is of another release. It is in force, but these fields "
				+ "are left out or read differently: invented.");
		assertThat(redis.cli("HKEYS", "rl:{policies}:heads").lines()).contains("invented/acme");
	}

	@Test
	@Order(5)
	void rolloutThatDoublesRefusalsIsTakenBackByItself() {
		walk.follow(docs.step("Friday: a rollout that doubles refusals"));
	}

	private static ConfigurableApplicationContext gateway(int number) {
		// A busy build machine may be slow, and a check that is not answered would be
		// allowed.
		ConfigurableApplicationContext gateway = new SpringApplicationBuilder(RateLimitGatewayApplication.class,
				OwnThreads.class)
			.profiles("demo")
			.run("--server.port=0", "--management.server.port=0", "--spring.data.redis.host=" + redis.host(),
					"--spring.data.redis.port=" + redis.port(), "--ratelimit.redis.timeout=2s",
					"--ratelimit.policies-store.snapshot-file=" + folder.resolve("snapshot-" + number));
		ports.put("localhost:80" + (8 + number) + "0", port(gateway, "server"));
		ports.put("localhost:80" + (8 + number) + "1", port(gateway, "management"));
		return gateway;
	}

	private static Integer port(ConfigurableApplicationContext gateway, String name) {
		return Objects.requireNonNull(gateway.getEnvironment().getProperty("local." + name + ".port", Integer.class),
				name);
	}

	/**
	 * Of its own: a gateway that ends would end those of the other too. Not annotated, or
	 * the gateways of other tests would find it.
	 */
	static class OwnThreads {

		@Bean
		ReactorResourceFactory reactorResourceFactory() {
			ReactorResourceFactory factory = new ReactorResourceFactory();
			factory.setUseGlobalResources(false);
			return factory;
		}

	}

}
