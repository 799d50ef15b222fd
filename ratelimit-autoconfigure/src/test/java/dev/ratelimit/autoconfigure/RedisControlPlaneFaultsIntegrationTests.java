package dev.ratelimit.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.actuate.RateLimitHealthAutoConfiguration;
import dev.ratelimit.metrics.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

/**
 * Policies and counters in a Redis that writes to disk.
 */
class RedisControlPlaneFaultsIntegrationTests extends ControlPlaneFaultsContract {

	private final RedisServer redis = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");

	@AfterEach
	void end() {
		this.redis.close();
	}

	@Test
	void healthSaysWhatIsWrongWhileTheInstanceIsUp() {
		// A disk that is slow to take the first check does not make it a degraded one.
		application().withPropertyValues("ratelimit.redis.timeout=2s").run((context) -> {
			check(context);
			assertThat(health(context)).contains(entry("backend", "redis"), entry("degraded", false),
					entry("switch", "off"), entry("fleet", 1), entry("stale", false), entry("rejected", 0));
			assertThat(breakers(context)).singleElement().isEqualTo("closed");
			kill();
			IntStream.range(0, 100).forEach((i) -> check(context));
			assertThat(health(context)).contains(entry("degraded", true)).containsKey("reason");
			await().until(() -> {
				check(context);
				return breakers(context).contains("open");
			});
		});
	}

	@Override
	ApplicationContextRunner application() {
		return new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
							RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
							RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
							RateLimitMetricsAutoConfiguration.class, RateLimitHealthAutoConfiguration.class))
			.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withPropertyValues("spring.data.redis.host=" + this.redis.host(),
					"spring.data.redis.port=" + this.redis.port(), "ratelimit.redis.timeout=100ms",
					"ratelimit.policies.orders.limits.per-tenant.by=tenant",
					"ratelimit.policies.orders.limits.per-tenant.quota=1000/h");
	}

	@Override
	void kill() {
		this.redis.kill();
	}

	@Override
	void restart() {
		this.redis.restart();
	}

	@Override
	void freeze() {
		this.redis.freeze();
	}

	@Override
	void thaw() {
		this.redis.thaw();
	}

	private static void check(ApplicationContext context) {
		context.getBean(RateLimiter.class)
			.check(Request.of("orders").with(Dimension.TENANT, "acme"))
			.toCompletableFuture()
			.join();
	}

	private static List<Object> breakers(ApplicationContext context) {
		return List.copyOf(((Map<?, ?>) health(context).get("breakers")).values());
	}

	private static Map<String, Object> health(ApplicationContext context) {
		return context.getBean("ratelimitHealthIndicator", HealthIndicator.class).health().getDetails();
	}

}
