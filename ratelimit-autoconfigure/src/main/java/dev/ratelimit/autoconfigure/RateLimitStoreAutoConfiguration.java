package dev.ratelimit.autoconfigure;

import io.lettuce.core.RedisClient;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.ConnectionFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.redis.RedisSignals;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.store.redis.RedisPolicyStore;
import dev.ratelimit.store.sql.SqlPolicyStore;

/**
 * Where policies that are edited at run time are kept: in Redis, in a SQL database, or
 * nowhere.
 */
@AutoConfiguration(after = { RateLimitAutoConfiguration.class, RateLimitRedisAutoConfiguration.class },
		afterName = { "org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration",
				"org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration" })
@ConditionalOnBean(Policies.class)
@ConditionalOnMissingBean(PolicyStore.class)
public final class RateLimitStoreAutoConfiguration {

	/**
	 * In Redis: where its URL says, else where the counters are, else where the
	 * application's own connection leads.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ LettuceConnectionFactory.class, RedisClient.class })
	@Conditional(OnRedisStore.class)
	static class InRedis {

		@Bean(destroyMethod = "close")
		RedisStoreConnection rateLimitStoreConnection(RateLimitProperties properties,
				ObjectProvider<LimiterConnection> counters, ObjectProvider<RedisSignals> signals,
				ListableBeanFactory beans) {
			RedisStoreConnection.Prefixes prefixes = PolicyMapper.checked(
					"Set 'ratelimit.audit.key-prefix' to 1 to 8 lower-case letters, digits and dashes.",
					() -> new RedisStoreConnection.Prefixes(properties.keyPrefix(), properties.audit().keyPrefix()));
			String url = properties.policiesStore().redis().url();
			if (!url.isBlank()) {
				return RedisStoreConnection.to(url, prefixes);
			}
			LimiterConnection shared = counters.getIfAvailable();
			if (shared != null) {
				return RedisStoreConnection.sharing(shared, signals.getObject(), prefixes);
			}
			LettuceConnectionFactory factory = ConnectionFactories.choose(beans,
					properties.redis().connectionFactory());
			return RedisStoreConnection.owning(new LimiterConnection(factory), prefixes);
		}

		@Bean(destroyMethod = "")
		RedisPolicyStore rateLimitPolicyStore(RedisStoreConnection connection) {
			return connection.store();
		}

		@Bean
		StoreName rateLimitStoreName(RedisStoreConnection connection) {
			return new StoreName(connection.name());
		}

	}

	/**
	 * In a database that speaks PostgreSQL.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ConnectionFactory.class, ConnectionPool.class })
	@ConditionalOnProperty(name = "ratelimit.policies-store.type", havingValue = "r2dbc")
	static class InSql {

		@Bean(destroyMethod = "close")
		SqlPolicyStore rateLimitPolicyStore(ObjectProvider<ConnectionFactory> factory) {
			ConnectionFactory connections = factory.getIfUnique();
			if (connections == null) {
				throw new InvalidPolicyException(
						"'ratelimit.policies-store.type' is r2dbc, but there is no single ConnectionFactory bean.",
						"Set 'spring.r2dbc.url' and have r2dbc-postgresql on the classpath, or declare one "
								+ "io.r2dbc.spi.ConnectionFactory as primary.");
			}
			return new SqlPolicyStore(connections);
		}

		@Bean
		StoreName rateLimitStoreName(Environment environment) {
			return StoreName.sql(environment);
		}

	}

}
