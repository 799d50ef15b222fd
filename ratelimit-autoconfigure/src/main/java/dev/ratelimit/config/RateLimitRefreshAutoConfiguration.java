package dev.ratelimit.config;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.control.ReloadListener;

/**
 * Reloads policies, lists and URL entries of the configuration when Spring Cloud reports
 * a change. A {@code Policies} bean of the application does not come from the
 * configuration and stays.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(EnvironmentChangeEvent.class)
@ConditionalOnBean(name = "rateLimitPolicies")
public final class RateLimitRefreshAutoConfiguration {

	@Bean
	PolicyRefresh rateLimitPolicyRefresh(LivePolicies live, PolicyMapper mapper, Environment environment,
			PropertyCheck check, ObjectProvider<PolicyUses> uses, ObjectProvider<ReloadedUrls> urls,
			ObjectProvider<ReloadListener> listeners) {
		return new PolicyRefresh(live,
				new ConfigurationReader(mapper, environment, check, PolicyUses.all(uses::orderedStream)),
				urls.getIfAvailable(() -> ReloadedUrls.NONE), listeners.orderedStream().toList());
	}

}
