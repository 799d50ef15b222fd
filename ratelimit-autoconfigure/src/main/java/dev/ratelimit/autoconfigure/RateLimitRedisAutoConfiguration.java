package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.RedisClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.BreakerState;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.NodeListener;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.lease.LeaseListener;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.redis.ForgetSignal;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisCounters;
import dev.ratelimit.redis.RedisSalt;
import dev.ratelimit.redis.RedisSignals;

/**
 * Counters in Redis, over a connection of the limiter's own to wherever
 * {@code spring.data.redis} points.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration" })
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
@ConditionalOnClass({ LettuceConnectionFactory.class, RedisClient.class })
@Conditional(OnRedisBackend.class)
@ConditionalOnMissingBean(Counters.class)
@EnableConfigurationProperties(RateLimitProperties.class)
public final class RateLimitRedisAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** Most counters whose refusals and leases an instance keeps. */
	private static final int MAX_LOCAL = 100_000;

	/** Longest wait of a start for Redis. */
	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

	private static final String BREAKER_FIX = "Set 'ratelimit.redis.breaker.failure-rate' to 1 to 100, "
			+ "'ratelimit.redis.breaker.window' to whole seconds from 2s to 1h, "
			+ "'ratelimit.redis.breaker.minimum-calls' to at least 1 and "
			+ "'ratelimit.redis.breaker.open-for' to at least 1ms.";

	@Bean(destroyMethod = "close")
	LimiterConnection rateLimitConnection(RateLimitProperties properties, ListableBeanFactory beans) {
		LimiterConnection connection = new LimiterConnection(
				ConnectionFactories.choose(beans, properties.redis().connectionFactory()));
		connection.connector().start(CONNECT_TIMEOUT);
		return connection;
	}

	@Bean(destroyMethod = "close")
	Deadlines rateLimitDeadlines(LimiterConnection connection) {
		return new Deadlines(connection.executor());
	}

	@Bean
	Nodes rateLimitNodes(RateLimitProperties properties, LimiterConnection connection,
			ObjectProvider<CircuitBreakerRegistry> registry, ObjectProvider<NodeListener> listeners) {
		RateLimitProperties.Redis.Breaker breaker = properties.redis().breaker();
		BreakerOptions options = PolicyMapper.checked(BREAKER_FIX, () -> new BreakerOptions(breaker.failureRate(),
				breaker.window(), breaker.minimumCalls(), breaker.openFor()));
		List<NodeListener> all = new ArrayList<>(listeners.orderedStream().toList());
		all.add(new TopologyRefresh(connection.connector()));
		Nodes nodes = new Nodes(options, registry.getIfUnique(CircuitBreakerRegistry::ofDefaults), all);
		nodes.expect(connection.connector().nodes());
		connection.connector().listen(new RedisConnector.Listener() {

			@Override
			public void connected(String node) {
				nodes.reconnected(node);
			}

			@Override
			public void nodes(Set<String> all, Set<String> keeping) {
				nodes.retain(all);
				nodes.keeping(keeping);
			}

		});
		return nodes;
	}

	/**
	 * Without a configured salt, the fleet agrees on one before the first check.
	 */
	@Bean(destroyMethod = "close")
	RedisSalt rateLimitSharedSalt(RateLimitProperties properties, LimiterConnection connection, Salt salt) {
		RedisSalt shared = RedisSalt.on(connection.connector(), properties.keyPrefix(), salt);
		if (!properties.identity().hash().hasSalt()) {
			logger.warn("ratelimit.identity.hash.salt is not set: a random salt is kept in Redis, next to the hashed "
					+ "values. Anyone who can read Redis can find out IPs by trying; set the salt to a secret");
			shared.start();
		}
		return shared;
	}

	@Bean(destroyMethod = "close")
	RedisSignals rateLimitSignals(RateLimitProperties properties, LimiterConnection connection) {
		return RedisSignals.on(connection.connector(), properties.keyPrefix());
	}

	/**
	 * What a check goes through on its way to Redis, from the outside to the inside.
	 */
	@Bean(destroyMethod = "close")
	LeasedCounters rateLimitCounters(RateLimitProperties properties, LimiterConnection connection, RedisSignals signals,
			Nodes nodes, Deadlines deadlines, Fleet fleet, HotCounters hot, ObjectProvider<LeaseListener> listener) {
		RateLimitProperties.Lease lease = properties.lease();
		LeaseOptions options = PolicyMapper.checked(
				"Set 'ratelimit.lease.refresh' to more than 0ms, 'ratelimit.lease.prefetch-at' to "
						+ "0 to 90 and 'ratelimit.lease.expires' to at least the refresh.",
				() -> new LeaseOptions(lease.refresh(), lease.prefetchAt(), lease.expires(), MAX_LOCAL));
		RedisCounters redis = RedisCounters.on(connection.connector(), signals);
		LeasedCounters counters = RateLimiterBuilder.leased(
				RateLimiterBuilder.guarded(redis, nodes, deadlines, properties.redis().timeout()), options, fleet::size,
				hot, listener.getIfUnique(() -> (permits) -> {
				}), deadlines);
		signals.listen(ForgetSignal.TYPE, new ForgetSignal(counters::forget, counters::forgetRefusals));
		return counters;
	}

	@Bean
	WarmUp rateLimitWarmUp(LimiterConnection connection, CounterKeys keys, Deadlines deadlines, Fallback fallback) {
		return new WarmUp(RedisCounters.on(connection.connector()), keys, deadlines, fallback);
	}

	/**
	 * A failing node may have been replaced without a notification.
	 */
	private record TopologyRefresh(RedisConnector connector) implements NodeListener {

		@Override
		public void changed(String node, BreakerState state) {
			if (state == BreakerState.OPEN) {
				this.connector.refresh();
			}
		}

	}

}
