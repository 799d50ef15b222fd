package dev.ratelimit.autoconfigure;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.actuate.RateLimitEndpoint;
import dev.ratelimit.counter.Counters;

/**
 * The actuator endpoint {@code ratelimit}.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnAvailableEndpoint(RateLimitEndpoint.class)
@ConditionalOnBean(Policies.class)
public class RateLimitEndpointAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	RateLimitEndpoint rateLimitEndpoint(Policies policies, Counters counters, RateLimitProperties properties) {
		return new RateLimitEndpoint(policies, counters, properties.region(), properties.fleet().expected());
	}

}
