package dev.ratelimit.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.actuate.RateLimitHealth;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.limiter.RedSwitch;

/**
 * The health component {@code ratelimit}, which is always up.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnSingleCandidate(PolicyRateLimiter.class)
@ConditionalOnBean(Policies.class)
public class RateLimitHealthAutoConfiguration {

	@Bean
	RateLimitHealth rateLimitHealth(PolicyRateLimiter limiter, Counters counters, LivePolicies live, Fleet fleet,
			RedSwitch redSwitch, ObjectProvider<Nodes> nodes, ObjectProvider<ControlPlane> control) {
		return new RateLimitHealth(limiter, counters, live, fleet, redSwitch, Breakers.of(nodes),
				control::getIfAvailable);
	}

	/**
	 * With the types of Boot 3, in a class that is not loaded where they are missing.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { "org.springframework.boot.actuate.health.HealthIndicator",
			"org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator" })
	static class IndicatorConfiguration {

		/**
		 * The component is called after the bean. Whether it is enabled is asked here, as
		 * all conditions of a class are loaded before the first of them is asked.
		 */
		@Bean
		@ConditionalOnEnabledHealthIndicator("ratelimit")
		@ConditionalOnMissingBean(name = "ratelimitHealthIndicator")
		HealthIndicator ratelimitHealthIndicator(RateLimitHealth health) {
			return () -> Health.up().withDetails(health.details()).build();
		}

	}

	/**
	 * The same with the types of Boot 4.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { "org.springframework.boot.health.contributor.HealthIndicator",
			"org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator" })
	static class Boot4IndicatorConfiguration {

		@Bean
		@org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator("ratelimit")
		@ConditionalOnMissingBean(name = "ratelimitHealthIndicator")
		org.springframework.boot.health.contributor.HealthIndicator ratelimitHealthIndicator(RateLimitHealth health) {
			return () -> org.springframework.boot.health.contributor.Health.up().withDetails(health.details()).build();
		}

	}

}
