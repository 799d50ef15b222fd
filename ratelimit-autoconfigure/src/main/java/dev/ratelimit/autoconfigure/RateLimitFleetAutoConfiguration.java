package dev.ratelimit.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.limiter.RedSwitch;
import dev.ratelimit.redis.RedisHotKeys;
import dev.ratelimit.redis.RedisPulse;
import dev.ratelimit.redis.RedisSignals;

/**
 * What makes a fleet of the instances that share a Redis: they count each other, obey one
 * switch, hear each other's signals and add up what they are asked for.
 */
@AutoConfiguration(after = RateLimitRedisAutoConfiguration.class)
@ConditionalOnBean(LimiterConnection.class)
public class RateLimitFleetAutoConfiguration {

	@Bean(destroyMethod = "close")
	RedisPulse rateLimitPulse(LimiterConnection connection, Fleet fleet, RateLimitProperties properties) {
		return RedisPulse.on(connection.connector(), properties.keyPrefix(), properties.region(), fleet.instance());
	}

	@Bean
	RedisHotKeys rateLimitHotKeys(LimiterConnection connection, RateLimitProperties properties) {
		return RedisHotKeys.on(connection.connector(), properties.keyPrefix(), properties.region());
	}

	@Bean
	PulseLifecycle rateLimitPulseLifecycle(RedisPulse pulse, RedisSignals signals, Fleet fleet, RedSwitch redSwitch,
			RateLimitProperties properties) {
		return new PulseLifecycle(pulse, signals, fleet, redSwitch, properties.fleet().expected() != null);
	}

}
