package dev.ratelimit.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.counter.Counters;

/**
 * Fails the start if counters belong in Redis and the application has only another
 * client: counting in memory instead would multiply every limit by the number of
 * instances.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.data.redis.connection.RedisConnectionFactory")
@ConditionalOnMissingClass("io.lettuce.core.RedisClient")
@Conditional(OnRedisBackend.class)
@ConditionalOnMissingBean(Counters.class)
class MissingLettuce {

	@Bean
	Counters rateLimitCounters() {
		throw new InvalidPolicyException("The limiter is configured for Redis, but Lettuce is not on the class path.",
				"Add io.lettuce:lettuce-core, which works next to another client. Or set 'ratelimit.backend' to "
						+ "memory: then each instance counts for itself.");
	}

}
