package dev.ratelimit.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.config.StartupFailures;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Whatever connection factories an application has, the limiter uses one of them or the
 * start fails with the fix; it never counts in memory instead.
 */
@ExtendWith(RedisServers.class)
class ConnectionFactoriesIntegrationTests {

	private static final String NAME = "ratelimit.redis.connection-factory";

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitStoreAutoConfiguration.class))
		.withPropertyValues("ratelimit.redis.timeout=2s", "ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=2/d");

	@Test
	void beanDeclaredAsAnyFactoryIsUsedThoughNoBeanOfItExistsYet(RedisServer redis) {
		on(redis).withUserConfiguration(EarlyLimiter.class, Declared.class)
			.run((context) -> assertCountsIn(context, redis));
	}

	@Test
	void primaryOfTwoFactoriesIsUsed(RedisServer redis) {
		on(redis).withUserConfiguration(Two.class, PrimaryOne.class).run((context) -> assertCountsIn(context, redis));
	}

	@Test
	void twoFactoriesOfWhichNoneIsPrimaryFailTheStart(RedisServer redis) {
		FailureAnalysis analysis = failure(on(redis).withUserConfiguration(Two.class, Declared.class));
		assertThat(analysis.getDescription()).contains("2 connection factories").contains("elsewhere, declared");
		assertThat(analysis.getAction()).contains("'" + NAME + "'").contains("@Primary");
	}

	@Test
	void propertyNamesOneOfTwoFactories(RedisServer redis) {
		on(redis).withUserConfiguration(Two.class, Declared.class)
			.withPropertyValues(NAME + "=declared")
			.run((context) -> assertCountsIn(context, redis));
	}

	@Test
	void nameOfNoBeanFailsTheStart(RedisServer redis) {
		FailureAnalysis analysis = failure(
				on(redis).withUserConfiguration(Declared.class).withPropertyValues(NAME + "=nosuch"));
		assertThat(analysis.getDescription()).contains("'nosuch'");
		assertThat(analysis.getAction()).contains("declared");
	}

	@Test
	void jedisFailsTheStart(RedisServer redis) {
		FailureAnalysis analysis = failure(on(redis).withPropertyValues("spring.data.redis.client-type=jedis",
				"spring.data.redis.host=" + redis.host()));
		assertThat(analysis.getDescription()).contains(JedisConnectionFactory.class.getName());
		assertThat(analysis.getAction()).contains("LettuceConnectionFactory").contains("'" + NAME + "'");
	}

	@Test
	void factoryOfTheLimitersOwnStandsBesideJedis(RedisServer redis) {
		on(redis).withUserConfiguration(Aside.class)
			.withPropertyValues("spring.data.redis.client-type=jedis", "spring.data.redis.host=" + redis.host(),
					NAME + "=aside")
			.run((context) -> {
				assertCountsIn(context, redis);
				assertThat(context.getBean(RedisConnectionFactory.class)).isInstanceOf(JedisConnectionFactory.class);
			});
	}

	@Test
	void factoryOfAnotherClientFailsTheStart() {
		FailureAnalysis analysis = failure(
				this.context.withBean("other", RedisConnectionFactory.class, OtherClient::new));
		assertThat(analysis.getDescription()).contains(OtherClient.class.getName());
		assertThat(analysis.getAction()).contains("'" + NAME + "'");
	}

	@Test
	void onlyLettuceFactoryBesideOneOfAnotherClientIsUsed(RedisServer redis) {
		on(redis).withUserConfiguration(Declared.class)
			.withBean("other", RedisConnectionFactory.class, OtherClient::new)
			.run((context) -> assertCountsIn(context, redis));
	}

	@Test
	void missingLettuceFailsTheStart() {
		FailureAnalysis analysis = failure(this.context.withClassLoader(new FilteredClassLoader("io.lettuce.core"))
			.withPropertyValues("spring.data.redis.host=localhost", "spring.data.redis.client-type=jedis"));
		assertThat(analysis.getDescription()).contains("Lettuce is not on the class path");
		assertThat(analysis.getAction()).contains("io.lettuce:lettuce-core").contains("'ratelimit.backend'");
	}

	@Test
	void missingLettuceIsNoMatterForCountersInMemory() {
		this.context.withClassLoader(new FilteredClassLoader("io.lettuce.core"))
			.withPropertyValues("spring.data.redis.host=localhost", "spring.data.redis.client-type=jedis",
					"ratelimit.backend=memory")
			.run((context) -> assertThat(context.getBean(Counters.class).source()).isEqualTo(Decision.Source.MEMORY));
	}

	@Test
	void noFactoryAtAllFailsTheStart() {
		FailureAnalysis analysis = failure(new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(RateLimitRedisAutoConfiguration.class, RateLimitAutoConfiguration.class))
			.withPropertyValues("ratelimit.backend=redis"));
		assertThat(analysis.getDescription()).contains("no RedisConnectionFactory bean");
		assertThat(analysis.getAction()).contains("'spring.data.redis.host'");
	}

	@Test
	void storeInSqlWithoutThePoolFailsTheStart() {
		FailureAnalysis analysis = failure(this.context.withClassLoader(new FilteredClassLoader("io.r2dbc.pool"))
			.withPropertyValues("ratelimit.policies-store.type=r2dbc"));
		assertThat(analysis.getDescription()).contains("io.r2dbc.pool.ConnectionPool is not on the class path");
		assertThat(analysis.getAction()).startsWith("Add the dependency io.r2dbc:r2dbc-pool");
	}

	/** For the factories that the test declares. */
	private ApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.port=" + redis.port());
	}

	private static void assertCountsIn(AssertableApplicationContext context, RedisServer redis) {
		assertThat(context).hasNotFailed();
		Request ann = Request.of("orders").with(Dimension.USER, "ann");
		RateLimiter limiter = context.getBean(RateLimiter.class);
		await()
			.until(() -> limiter.check(ann.withCost(0)).toCompletableFuture().join().source() == Decision.Source.REDIS);
		assertThat(limiter.check(ann).toCompletableFuture().join().allowed()).isTrue();
		assertThat(redis.cli("KEYS", "rl:3g:*")).isNotBlank();
	}

	private static FailureAnalysis failure(ApplicationContextRunner runner) {
		FailureAnalysis[] analysis = new FailureAnalysis[1];
		runner.run((context) -> analysis[0] = StartupFailures.analyze(context.getStartupFailure()));
		assertThat(analysis[0]).as("a failure with a fix").isNotNull();
		return analysis[0];
	}

	private static RedisConnectionFactory to(String port) {
		return new LettuceConnectionFactory("127.0.0.1", Integer.parseInt(port));
	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyLimiter {

		/** Needs the limiter before the factory was made. */
		@Bean
		String early(RateLimiter limiter) {
			return limiter.toString();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Declared {

		@Bean
		RedisConnectionFactory declared(Environment environment) {
			return to(environment.getRequiredProperty("spring.data.redis.port"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryOne {

		@Bean
		@Primary
		RedisConnectionFactory main(Environment environment) {
			return to(environment.getRequiredProperty("spring.data.redis.port"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Two {

		/** Nothing listens there. */
		@Bean
		LettuceConnectionFactory elsewhere() {
			return new LettuceConnectionFactory("127.0.0.1", 1);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Aside {

		@Bean(defaultCandidate = false)
		LettuceConnectionFactory aside(Environment environment) {
			return (LettuceConnectionFactory) to(environment.getRequiredProperty("spring.data.redis.port"));
		}

	}

	/** As Redisson brings one. */
	static class OtherClient implements RedisConnectionFactory {

		@Override
		public RedisConnection getConnection() {
			throw new UnsupportedOperationException();
		}

		@Override
		public RedisClusterConnection getClusterConnection() {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean getConvertPipelineAndTxResults() {
			return false;
		}

		@Override
		public RedisSentinelConnection getSentinelConnection() {
			throw new UnsupportedOperationException();
		}

		@Override
		public DataAccessException translateExceptionIfPossible(RuntimeException ex) {
			return null;
		}

	}

}
