package dev.ratelimit.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.config.StartupFailures;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisSentinels;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Where counters are kept, with real servers behind the ordinary
 * {@code spring.data.redis} properties.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class RedisBackendIntegrationTests {

	private static final Request ANN = Request.of("orders").with(Dimension.USER, "ann");

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitAutoConfiguration.class))
		.withPropertyValues("ratelimit.redis.timeout=2s", "ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=2/d");

	@Test
	void nothingThatSaysWhereRedisIsMeansMemory() {
		this.context.run((context) -> assertSource(context, Decision.Source.MEMORY));
	}

	@Test
	void hostMeansRedisAndTwoInstancesShareTheirCounters(RedisServer redis) {
		ApplicationContextRunner distributed = this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
		distributed.run((one) -> distributed.run((other) -> {
			assertRedisAnswers(one);
			assertRedisAnswers(other);
			assertThat(check(one).allowed()).isTrue();
			assertThat(check(other).allowed()).isTrue();
			assertThat(check(one).allowed()).isFalse();
			assertThat(check(other).allowed()).isFalse();
		}));
	}

	@ParameterizedTest
	@CsvSource({ "window=1s, Window must be whole seconds from 2s to 1h",
			"failure-rate=0, Failure-rate must be above 0", "minimum-calls=0, Minimum-calls must be at least 1",
			"open-for=0s, Open-for must be at least 1ms" })
	void breakerThatCannotWorkFailsTheStartWithTheFix(String setting, String problem) {
		RedisServer redis = RedisServers.standalone();
		this.context
			.withPropertyValues("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port(),
					"ratelimit.redis.breaker." + setting)
			.run((failed) -> {
				FailureAnalysis analysis = StartupFailures.analyze(failed.getStartupFailure());
				assertThat(analysis.getDescription()).startsWith(problem);
				assertThat(analysis.getAction()).contains("'ratelimit.redis.breaker." + setting.split("=")[0] + "'");
			});
	}

	@Test
	void urlMeansRedis(RedisServer redis) {
		this.context.withPropertyValues("spring.data.redis.url=redis://" + redis.host() + ":" + redis.port())
			.run(RedisBackendIntegrationTests::assertRedisAnswers);
	}

	@Test
	void listOfClusterNodesMeansRedis(RedisCluster cluster) {
		this.context
			.withPropertyValues("spring.data.redis.cluster.nodes[0]=127.0.0.1:" + cluster.servers().get(0).port(),
					"spring.data.redis.cluster.nodes[1]=127.0.0.1:" + cluster.servers().get(1).port())
			.run((context) -> {
				assertRedisAnswers(context);
				assertThat(check(context).allowed()).isTrue();
				assertThat(check(context).allowed()).isTrue();
				assertThat(check(context).allowed()).isFalse();
			});
	}

	@Test
	void sentinelsMeanTheirPrimary(RedisSentinels sentinels) {
		this.context
			.withPropertyValues("spring.data.redis.sentinel.master=" + sentinels.masterId(),
					"spring.data.redis.sentinel.nodes=127.0.0.1:" + sentinels.sentinels().get(0).port(),
					"ratelimit.identity.hash.salt=salt of the tests")
			.run((context) -> {
				assertRedisAnswers(context);
				assertThat(check(context).allowed()).isTrue();
				assertThat(sentinels.primary().cli("DBSIZE")).isEqualTo("1");
			});
	}

	@Test
	void connectionFactoryOfTheApplicationMeansRedis(RedisServer redis) {
		this.context
			.withBean("own", RedisConnectionFactory.class,
					() -> new LettuceConnectionFactory(redis.host(), redis.port()))
			.run(RedisBackendIntegrationTests::assertRedisAnswers);
	}

	@Test
	void memoryCanBeForced(RedisServer redis) {
		this.context
			.withPropertyValues("ratelimit.backend=memory", "spring.data.redis.host=" + redis.host(),
					"spring.data.redis.port=" + redis.port())
			.run((context) -> assertSource(context, Decision.Source.MEMORY));
	}

	@Test
	void startsWithoutRedisAndFollowsTheFailureModeUntilItComes(CapturedOutput output) {
		try (RedisServer redis = RedisServer.start()) {
			redis.kill();
			this.context
				.withPropertyValues("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
				.run((context) -> {
					Decision degraded = check(context);
					assertThat(degraded.allowed()).isTrue();
					assertThat(degraded.degraded()).isTrue();
					assertThat(degraded.reason()).isEqualTo(Decision.Reason.UNAVAILABLE);
					assertThat(output).contains("cannot be used");
					redis.restart();
					await().until(() -> check(context).source() == Decision.Source.REDIS);
				});
		}
	}

	@Test
	void nothingAtTheAddressOfRedisNeitherHoldsUpTheStartNorTheEnd() {
		long start = Pauses.now();
		this.context.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=1")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(Pauses.without(start)).isLessThan(Duration.ofSeconds(8));
	}

	private static void assertSource(AssertableApplicationContext context, Decision.Source source) {
		assertThat(context).hasNotFailed();
		assertThat(context.getBean(Counters.class).source()).isEqualTo(source);
	}

	/** A start does not wait for Redis for long; looking takes nothing. */
	private static void assertRedisAnswers(AssertableApplicationContext context) {
		assertSource(context, Decision.Source.REDIS);
		RateLimiter limiter = context.getBean(RateLimiter.class);
		await()
			.until(() -> limiter.check(ANN.withCost(0)).toCompletableFuture().join().source() == Decision.Source.REDIS);
	}

	private static Decision check(AssertableApplicationContext context) {
		return context.getBean(RateLimiter.class).check(ANN).toCompletableFuture().join();
	}

}
