package dev.ratelimit.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.Policy;
import dev.ratelimit.counter.Salt;
import dev.ratelimit.counter.SealedHashes;
import dev.ratelimit.hot.AutoSplit;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotSplits;
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
	RedisHotKeys rateLimitHotKeys(LimiterConnection connection, RateLimitProperties properties, Salt salt) {
		return RedisHotKeys.on(connection.connector(), properties.keyPrefix(), properties.region(),
				new SealedHashes(salt));
	}

	/**
	 * Only where parts are on different nodes.
	 */
	@Bean
	AutoSplit rateLimitAutoSplit(LimiterConnection connection, RateLimitProperties properties, Policies policies,
			HotCounters hot, HotExchange exchange, HotSplits splits, ObjectProvider<CostsBeside> beside) {
		AutoSplit split = new AutoSplit(hot, exchange, splits, properties.hot().threshold(),
				(policy) -> beside.stream()
					.mapToLong((costs) -> costs.largest(policy))
					.reduce(largestCost(policies.get().find(policy)), Math::max));
		if (connection.isCluster()) {
			exchange.listen(split::look);
		}
		return split;
	}

	private static long largestCost(@Nullable Policy policy) {
		return (policy != null) ? policy.settings().costs().values().stream().reduce(1L, Math::max) : 1;
	}

	@Bean
	PulseLifecycle rateLimitPulseLifecycle(RedisPulse pulse, RedisSignals signals, Fleet fleet, RedSwitch redSwitch,
			RateLimitProperties properties) {
		return new PulseLifecycle(pulse, signals, fleet, redSwitch, properties.fleet().expected() != null);
	}

}
