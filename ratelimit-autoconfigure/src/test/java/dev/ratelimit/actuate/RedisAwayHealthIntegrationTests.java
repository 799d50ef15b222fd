package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.Map;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitFleetAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRefusalsAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.metrics.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/**
 * What health and meters say of a Redis that is away, before the first request.
 */
@ExtendWith(RedisServers.class)
class RedisAwayHealthIntegrationTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
				RateLimitRefusalsAutoConfiguration.class, RateLimitMetricsAutoConfiguration.class,
				RateLimitHealthAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withPropertyValues("ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=2/m");

	@Test
	void degradedAndTheBreakerAreShownFromTheStartUntilRedisIsThere(RedisServer redis) {
		redis.kill();
		on(redis).run((context) -> {
			assertThat(health(context)).contains(entry("degraded", true), entry("reason", "unavailable"),
					entry("breakers", Map.of(redis.host() + ":" + redis.port(), "closed")));
			redis.restart();
			soon().until(() -> health(context).get("degraded").equals(false));
			assertThat(health(context)).doesNotContainKey("reason");
		});
	}

	@Test
	void redisThatFallsSilentIsSeenWithoutARequest(RedisServer redis) {
		on(redis).run((context) -> {
			soon().until(() -> health(context).get("degraded").equals(false));
			redis.freeze();
			soon().until(() -> health(context).get("degraded").equals(true));
			redis.thaw();
			soon().until(() -> health(context).get("degraded").equals(false));
		});
	}

	@Test
	void countersOfAlertsAreAtZeroBeforeTheFirstRequest(RedisServer redis) {
		on(redis).run((context) -> {
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			String node = redis.host() + ":" + redis.port();
			assertThat(meters.get("ratelimit.redis.errors").tags("node", node, "reason", "timeout").counter().count())
				.isZero();
			assertThat(meters.get("ratelimit.outage").tag("node", node).timer().count()).isZero();
			assertThat(meters.get("ratelimit.breaker.state").tag("node", node).gauge().value()).isZero();
			assertThat(meters.get("ratelimit.rollout.rollbacks").tag("policy", "orders").counter().count()).isZero();
			assertThat(meters.get("ratelimit.degraded")
				.tags("policy", "orders", "mode", "allow", "reason", "timeout")
				.counter()
				.count()).isZero();
			assertThat(meters.get("ratelimit.refusals.missing").functionCounter().count()).isZero();
			assertThat(meters.get("ratelimit.policies.rejected").gauge().value()).isZero();
			assertThat(meters.get("ratelimit.policy.info").tags("policy", "unknown", "owner", "none").gauge().value())
				.isOne();
		});
	}

	@Test
	void onlyPrimariesOfAClusterAreExpected(RedisCluster cluster) {
		this.context.withPropertyValues("spring.data.redis.cluster.nodes=127.0.0.1:" + cluster.servers().get(0).port())
			.run((context) -> {
				soon().until(() -> !breakers(context).isEmpty());
				assertThat(breakers(context)).hasSizeBetween(1, cluster.servers().size() / 2)
					.doesNotContainKey("cluster");
			});
	}

	@Test
	void nodesOfAClusterThatWasAwayAtTheStartAreKnownBeforeTheFirstRequest(RedisCluster cluster) {
		cluster.servers().forEach(RedisServer::freeze);
		this.context.withPropertyValues("spring.data.redis.cluster.nodes=127.0.0.1:" + cluster.servers().get(0).port())
			.run((context) -> {
				assertThat(breakers(context)).containsOnlyKeys("cluster");
				cluster.servers().forEach(RedisServer::thaw);
				soon().until(() -> !breakers(context).isEmpty() && !breakers(context).containsKey("cluster"));
				MeterRegistry meters = context.getBean(MeterRegistry.class);
				assertThat(breakers(context).keySet()).allSatisfy((node) -> {
					assertThat(meters.get("ratelimit.redis.errors")
						.tags("node", node, "reason", "timeout")
						.counter()
						.count()).isZero();
					assertThat(meters.get("ratelimit.outage").tag("node", node).timer().count()).isZero();
				});
			});
	}

	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	private static ConditionFactory soon() {
		return Awaitility.await().atMost(Duration.ofMinutes(1));
	}

	private static Map<String, Object> health(ApplicationContext context) {
		return context.getBean("ratelimitHealthIndicator", HealthIndicator.class).health().getDetails();
	}

	@SuppressWarnings("unchecked")
	private static Map<String, String> breakers(ApplicationContext context) {
		return (Map<String, String>) health(context).get("breakers");
	}

}
