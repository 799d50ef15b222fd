package dev.ratelimit.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.FailureMode;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.redis.RedisPulse;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What applications that share a Redis know of each other.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class FleetIntegrationTests {

	private static final String NOT_KNOWN = "The number of instances is unknown";

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class));

	@Test
	void applicationsCountEachOtherFromTheStartAndUntilTheyStop(RedisServer redis, CapturedOutput output) {
		on(redis).run((one) -> {
			on(redis).run((other) -> {
				assertThat(fleet(other)).isEqualTo(2);
				await().atMost(Duration.ofSeconds(30)).until(() -> fleet(one) == 2);
			});
			assertThat(redis.cli("ZCARD", "rl:{fleet}:instances:local")).isEqualTo("1");
			await().atMost(Duration.ofSeconds(30)).until(() -> fleet(one) == 1);
		});
		assertThat(output).doesNotContain(NOT_KNOWN);
	}

	@Test
	void switchOfOneIsObeyedByTheOther(RedisServer redis) {
		on(redis).run((one) -> on(redis).run((other) -> {
			one.getBean(ModeSwitch.class)
				.turnOn(new ForcedMode(FailureMode.DENY, ForcedMode.USUAL, "ann", ""))
				.toCompletableFuture()
				.join();
			Within.seconds(3).until(() -> other.getBean(ModeSwitch.class).mode() == FailureMode.DENY);
		}));
	}

	@Test
	void switchThatIsOnIsObeyedFromTheStart(RedisServer redis) {
		redis.cli("SET", "rl:{fleet}:switch", "allow", "PX", "60000");
		on(redis).run((context) -> await().until(() -> context.getBean(ModeSwitch.class).mode() == FailureMode.ALLOW));
	}

	@Test
	void startWithoutRedisTakesTheExpectedNumber(CapturedOutput output) {
		away().withPropertyValues("ratelimit.fleet.expected=6").run((context) -> {
			assertThat(fleet(context)).isEqualTo(6);
			assertThat(output).doesNotContain(NOT_KNOWN);
		});
	}

	@Test
	void startWithoutRedisAndWithoutANumberIsWarnedAbout(CapturedOutput output) {
		away().run((context) -> {
			assertThat(fleet(context)).isOne();
			assertThat(output).contains(NOT_KNOWN).contains("ratelimit.fleet.expected");
		});
	}

	@Test
	void countersInMemoryNeedNoPulse() {
		this.context.run((context) -> assertThat(context).hasNotFailed()
			.hasSingleBean(Fleet.class)
			.doesNotHaveBean(RedisPulse.class));
	}

	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	/** Nothing listens on the port of discard. */
	private ApplicationContextRunner away() {
		return this.context.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=9");
	}

	private static int fleet(ApplicationContext context) {
		return context.getBean(Fleet.class).size();
	}

}
