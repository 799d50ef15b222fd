package dev.ratelimit.autoconfigure;

import java.time.InstantSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.caller.Pseudonyms;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.redis.RedisSender;
import dev.ratelimit.refusal.MemoryHistory;
import dev.ratelimit.refusal.RefusalHistory;
import dev.ratelimit.refusal.RefusalOptions;
import dev.ratelimit.refusal.RefusalRecorder;
import dev.ratelimit.refusal.redis.RedisRefusals;

/**
 * The log of refusals and their history: in Redis where the counters are there, otherwise
 * in this process. The limiter finds the recorder among its listeners.
 */
@AutoConfiguration(after = { RateLimitRedisAutoConfiguration.class, RateLimitAutoConfiguration.class })
@ConditionalOnBean(Policies.class)
public final class RateLimitRefusalsAutoConfiguration {

	/** A history in this process takes its memory: about 1 KB an entry. */
	private static final int MOST_IN_MEMORY = 10_000;

	@Bean
	@ConditionalOnMissingBean
	RefusalOptions rateLimitRefusalOptions(RateLimitProperties properties) {
		RateLimitProperties.Refusals refusals = properties.refusals();
		return PolicyMapper
			.checked("Set, under 'ratelimit.refusals', lines-per-second to 0 to 10000, sample-allowed to 0 "
					+ "or more, per-second to 1 to 400, per-key to 1 to 10000, max-entries to 0 to 10000000 and retention "
					+ "to 1m to 365d.",
					() -> new RefusalOptions(refusals.linesPerSecond(), refusals.sampleAllowed(), refusals.perSecond(),
							refusals.perKey(), refusals.maxEntries(), refusals.retention()));
	}

	@Bean
	@ConditionalOnMissingBean
	CallerNames rateLimitCallerNames(Pseudonyms pseudonyms, RateLimitProperties properties) {
		return new CallerNames(pseudonyms, properties.identity().ipv6Prefix());
	}

	@Bean
	RecentChanges rateLimitRecentChanges() {
		return new RecentChanges(InstantSource.system());
	}

	@Bean
	@ConditionalOnMissingBean(RefusalHistory.class)
	MemoryHistory rateLimitMemoryHistory(RefusalOptions options) {
		return new MemoryHistory(Math.min(options.maxEntries(), MOST_IN_MEMORY), options.retention(),
				InstantSource.system());
	}

	@Bean(initMethod = "start", destroyMethod = "close")
	@ConditionalOnMissingBean
	RefusalRecorder rateLimitRefusalRecorder(RefusalOptions options, RefusalHistory history, CallerNames names,
			Fleet fleet, Policies policies, ObjectProvider<Nodes> nodes, RecentChanges changes) {
		InstantSource clock = InstantSource.system();
		return new RefusalRecorder(options, history, names, fleet.instance(),
				new LiveRefusalContext(policies, nodes, changes, clock), clock, System::nanoTime);
	}

	/**
	 * Where the counters are.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBean(LimiterConnection.class)
	static class InRedis {

		@Bean(destroyMethod = "close")
		@ConditionalOnMissingBean(RefusalHistory.class)
		RedisRefusals rateLimitRedisRefusals(LimiterConnection connection, RateLimitProperties properties,
				RefusalOptions options) {
			return new RedisRefusals(RedisSender.on(connection.connector()), connection.another(),
					properties.keyPrefix(), options.maxEntries(), options.retention(), InstantSource.system());
		}

	}

}
