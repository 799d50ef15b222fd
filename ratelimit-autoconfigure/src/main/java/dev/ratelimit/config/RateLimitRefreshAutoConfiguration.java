package dev.ratelimit.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

import dev.ratelimit.control.LivePolicies;

/**
 * Policies and lists of the configuration that are reloaded, where Spring Cloud tells of
 * changes. Policies of the application's own do not come from there and are left alone.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(EnvironmentChangeEvent.class)
@ConditionalOnBean(name = "rateLimitPolicies")
public class RateLimitRefreshAutoConfiguration {

	@Bean
	PolicyRefresh rateLimitPolicyRefresh(LivePolicies live, PolicyMapper mapper, Environment environment,
			PropertyCheck check) {
		return new PolicyRefresh(live, new ConfigurationReader(mapper, environment, check));
	}

}
