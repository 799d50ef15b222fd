package dev.ratelimit.actuate;

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

import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.Heartbeats;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.limiter.PolicyRateLimiter;

/**
 * The health component {@code ratelimit}, which is always up.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnSingleCandidate(PolicyRateLimiter.class)
@ConditionalOnBean(Policies.class)
public final class RateLimitHealthAutoConfiguration {

	@Bean
	RateLimitHealth rateLimitHealth(PolicyRateLimiter limiter, Counters counters, LivePolicies live, Fleet fleet,
			ModeSwitch modeSwitch, ObjectProvider<Heartbeats> heartbeats, ObjectProvider<Nodes> nodes,
			ObjectProvider<ControlPlane> control) {
		return new RateLimitHealth(limiter, counters, live, fleet, modeSwitch, heartbeats::getIfAvailable,
				nodes::getIfAvailable, control::getIfAvailable);
	}

	/**
	 * The health indicator of Boot 3, in a class that is only loaded with its types.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { "org.springframework.boot.actuate.health.HealthIndicator",
			"org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator" })
	static class IndicatorConfiguration {

		/**
		 * The name of the component comes from the bean. The condition is on the method,
		 * because all conditions of a class are loaded before the first is evaluated.
		 */
		@Bean
		@ConditionalOnEnabledHealthIndicator("ratelimit")
		@ConditionalOnMissingBean(name = "ratelimitHealthIndicator")
		HealthIndicator ratelimitHealthIndicator(RateLimitHealth health) {
			return () -> Health.up().withDetails(health.details()).build();
		}

	}

	/**
	 * The health indicator of Boot 4.
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
