package dev.ratelimit.autoconfigure;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

import dev.ratelimit.config.InvalidPolicyException;

/**
 * Fails the start if the counters are not where the configuration wants them. Conditions
 * are evaluated once, and ahead of time for a native image: an address of Redis that is
 * known only later would not be used, and every instance would count for itself.
 *
 * @param beans has the beans that the conditions chose
 * @param environment properties as they are at run time
 */
record BackendCheck(ConfigurableListableBeanFactory beans,
		Environment environment) implements SmartInitializingSingleton {

	@Override
	public void afterSingletonsInstantiated() {
		ClassLoader classes = this.beans.getBeanClassLoader();
		if (!ClassUtils.isPresent("org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory", classes)
				|| !ClassUtils.isPresent("io.lettuce.core.RedisClient", classes)) {
			return;
		}
		boolean redis = this.beans.getBeanNamesForType(LimiterConnection.class, true, false).length > 0;
		if (!redis && !this.beans.containsBean(RateLimitAutoConfiguration.MEMORY_COUNTERS)) {
			// The application brings counters of its own.
			return;
		}
		// A connection factory that is defined after the conditions is none of ours.
		OnRedisBackend.Answer wanted = OnRedisBackend.answer(this.environment, redis ? this.beans : null, classes);
		if (wanted.redis() != redis) {
			throw new InvalidPolicyException(
					"The application was built to count in " + (redis ? "Redis" : "memory")
							+ ", but its configuration asks for " + (wanted.redis() ? "Redis" : "memory") + ": "
							+ wanted.reason() + ".",
					"Set 'ratelimit.backend' to " + (wanted.redis() ? "redis" : "memory")
							+ " where conditions can see it: at build time if the application is processed ahead of time,"
							+ " and as a property of the test if a bean of the test sets the address.");
		}
	}

}
