package dev.ratelimit.app.walk;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import dev.ratelimit.app.RateLimitGatewayApplication;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who types what docs/operations.md says sees what it shows: its commands are run against
 * two gateways on one Redis, step by step, and print the same but for times of day.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(60)
class WalkThroughIntegrationTests {

	private static RedisServer redis;

	private static List<ConfigurableApplicationContext> gateways;

	private static WalkThrough docs;

	private static Walk walk;

	@BeforeAll
	static void start() throws IOException {
		docs = WalkThrough.read("A walk-through");
		redis = RedisServer.start();
		gateways = Stream.of(1, 2).map((number) -> gateway()).toList();
		walk = new Walk(new Terminal(
				new Curl(Map.of("localhost:8080", port(0, "server"), "localhost:8081", port(0, "management"),
						"localhost:8090", port(1, "server"), "localhost:8091", port(1, "management"))),
				new RedisCli(redis)), () -> gateways);
		follow("");
	}

	@AfterAll
	static void end() {
		gateways.forEach(ConfigurableApplicationContext::close);
		redis.close();
	}

	@Test
	@Order(1)
	void limitOfATenantIsRaisedOnBothGatewaysWithinASecond() {
		follow("Raise a tenant's limit");
	}

	@Test
	@Order(2)
	void newLimitIsTriedOutAndRefusesNobody() {
		follow("Try a new limit in the dark");
	}

	@Test
	@Order(3)
	void limitIsRolledOutInStages() {
		follow("Roll it out");
	}

	@Test
	@Order(4)
	@Timeout(300)
	void versionThatRefusesTooMuchIsRolledBackByItself(CapturedOutput output) {
		follow("Watch a slip roll back");
		assertThat(output.toString()
			.lines()
			.filter((line) -> line.contains("rolled back at"))
			.filter((line) -> !line.contains("audit"))).singleElement()
			.asString()
			.containsPattern("WARN .*Policy 'demo-orders', version 5, was rolled back at 50 %: refuses \\d+\\.\\d "
					+ "percentage points more than the version before \\(.*\\), by instance \\w{8}; version 4 is in "
					+ "force for everybody again");
	}

	@Test
	@Order(5)
	void switchIsFlippedAndReverted() {
		follow("Flip the switch and back");
	}

	@Test
	@Order(6)
	void allIsAsItWas() {
		follow("Clean up");
	}

	private static void follow(String heading) {
		walk.follow(docs.step(heading));
	}

	private static ConfigurableApplicationContext gateway() {
		// A busy build machine may be slow, and a check that is not answered would be
		// allowed.
		return new SpringApplicationBuilder(RateLimitGatewayApplication.class).profiles("demo")
			.run("--server.port=0", "--management.server.port=0", "--spring.data.redis.host=" + redis.host(),
					"--spring.data.redis.port=" + redis.port(), "--ratelimit.redis.timeout=2s");
	}

	private static Integer port(int gateway, String name) {
		return gateways.get(gateway).getEnvironment().getProperty("local." + name + ".port", Integer.class);
	}

}
