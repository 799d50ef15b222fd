package dev.ratelimit.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.Policy;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.caller.SealedHashes;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.Heartbeats;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.gateway.StandInCosts;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.penalty.PenaltyExchange;
import dev.ratelimit.redis.RedisHotKeys;
import dev.ratelimit.redis.RedisPenalties;
import dev.ratelimit.redis.RedisPulse;
import dev.ratelimit.redis.RedisSignals;
import dev.ratelimit.split.AutoSplit;
import dev.ratelimit.split.HotSplits;

/**
 * What makes a fleet of the instances that share a Redis: they count each other, obey one
 * switch, hear each other's signals and add up what they are asked for.
 */
@AutoConfiguration(after = RateLimitRedisAutoConfiguration.class)
@ConditionalOnBean(LimiterConnection.class)
public final class RateLimitFleetAutoConfiguration {

	@Bean(destroyMethod = "close")
	RedisPulse rateLimitPulse(LimiterConnection connection, Fleet fleet, RateLimitProperties properties) {
		return RedisPulse.on(connection.connector(), properties.keyPrefix(), properties.region(), fleet.instance());
	}

	@Bean
	RedisHotKeys rateLimitHotKeys(LimiterConnection connection, RateLimitProperties properties, Salt salt) {
		return new RedisHotKeys(connection.connector(), properties.keyPrefix(), properties.region(),
				new SealedHashes(salt));
	}

	/**
	 * Only where parts are on different nodes.
	 */
	@Bean
	AutoSplit rateLimitAutoSplit(LimiterConnection connection, RateLimitProperties properties, Policies policies,
			HotCounters hot, HotExchange exchange, HotSplits splits, ObjectProvider<StandInCosts> beside) {
		AutoSplit split = new AutoSplit(hot, exchange, splits, properties.hot().threshold(),
				(policy) -> beside.stream()
					.mapToLong((costs) -> costs.largest(policy))
					.reduce(largestCost(policies.get().find(policy)), Math::max));
		if (connection.isCluster()) {
			exchange.listen(split::review);
		}
		return split;
	}

	private static long largestCost(@Nullable Policy policy) {
		return (policy != null) ? policy.chargedCost() : 1;
	}

	@Bean
	RedisPenalties rateLimitPenaltyStore(LimiterConnection connection, RedisSignals signals,
			RateLimitProperties properties) {
		return new RedisPenalties(connection.connector(), signals, properties.keyPrefix());
	}

	@Bean(initMethod = "start", destroyMethod = "close")
	PenaltyExchange rateLimitPenaltyExchange(Penalties penalties, RedisPenalties store, Policies policies) {
		return new PenaltyExchange(penalties, store,
				() -> policies.get().policies().stream().anyMatch((policy) -> policy.settings().penalty() != null));
	}

	@Bean
	Heartbeats rateLimitHeartbeats() {
		return new Heartbeats(System::nanoTime);
	}

	@Bean
	PulseLifecycle rateLimitPulseLifecycle(RedisPulse pulse, RedisSignals signals, Fleet fleet, ModeSwitch modeSwitch,
			Heartbeats heartbeats, RateLimitProperties properties, ObjectProvider<ControlPlane> control) {
		return new PulseLifecycle(pulse, signals, fleet, modeSwitch, heartbeats, properties.fleet().expected() != null,
				control::getIfAvailable);
	}

}
