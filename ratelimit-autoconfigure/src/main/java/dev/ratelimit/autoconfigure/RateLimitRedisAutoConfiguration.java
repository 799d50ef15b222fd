package dev.ratelimit.autoconfigure;

import java.time.Duration;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import dev.ratelimit.counter.Counters;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisCounters;

/**
 * Counters in Redis, over a connection of the limiter's own to wherever
 * {@code spring.data.redis} points.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration" })
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
@ConditionalOnClass({ LettuceConnectionFactory.class, RedisConnector.class })
@Conditional(OnRedisBackend.class)
@ConditionalOnMissingBean(Counters.class)
public class RateLimitRedisAutoConfiguration {

	/** How long a start waits for Redis before it goes on without. */
	private static final Duration PATIENCE = Duration.ofSeconds(2);

	@Bean(destroyMethod = "close")
	LimiterConnection rateLimitConnection(LettuceConnectionFactory factory) {
		LimiterConnection connection = new LimiterConnection(factory);
		connection.connector().start(PATIENCE);
		return connection;
	}

	@Bean
	RedisCounters rateLimitRedisCounters(LimiterConnection connection) {
		return RedisCounters.on(connection.connector());
	}

}
