package dev.ratelimit.gateway;

import java.util.List;
import java.util.Map;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

import dev.ratelimit.Policy;
import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.UnknownPolicies;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.SettledPolicies;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;
import dev.ratelimit.web.reactive.RefusedConnections;

/**
 * The filter for gateway routes, and the stand-in for the gateway's own limiter.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class,
		afterName = "org.springframework.cloud.gateway.config.GatewayAutoConfiguration")
@ConditionalOnClass({ AbstractGatewayFilterFactory.class, GatewayProperties.class })
@ConditionalOnBean({ RateLimiter.class, GatewayProperties.class })
public final class RateLimitGatewayAutoConfiguration {

	/** The gateway's own property, so that limits by route id need not be rewritten. */
	private static final String CONFIGURED = "spring.cloud.gateway.server.webflux.redis-rate-limiter.config";

	@Bean
	@ConditionalOnMissingBean
	RateLimitGatewayFilterFactory rateLimitGatewayFilterFactory(RateLimiter limiter, RequestResolver resolver,
			HttpAnswers answers, ObjectProvider<CallTrace.Source> traces,
			ObjectProvider<RefusedConnections> connections) {
		return new RateLimitGatewayFilterFactory(limiter, resolver, answers,
				traces.getIfAvailable(() -> CallTrace.Source.NONE),
				connections.getIfAvailable(() -> RefusedConnections.KEPT));
	}

	@Bean
	SettleGlobalFilter rateLimitSettleFilter(Policies policies) {
		return new SettleGlobalFilter(new SettledPolicies(policies));
	}

	/**
	 * No default candidate: the gateway's own limiter stays the one that is injected by
	 * type.
	 */
	@Bean(defaultCandidate = false)
	@ConditionalOnMissingBean(name = "distributedRateLimiter")
	DistributedRateLimiter distributedRateLimiter(ConfigurationService configuration, RateLimitProperties properties,
			Policies inForce, RequestResolver resolver, HttpAnswers answers,
			@Qualifier("rateLimitLimiterBuilder") ObjectProvider<RateLimiterBuilder> limiters,
			Environment environment) {
		Map<String, DistributedRateLimiter.Config> configured = Binder.get(environment)
			.bind(CONFIGURED, Bindable.mapOf(String.class, DistributedRateLimiter.Config.class))
			.orElse(Map.of());
		return new DistributedRateLimiter(configuration, resolver, inForce,
				(policies) -> limiters.getObject().policies(policies).build(), answers, properties.headers())
			.configured(configured);
	}

	/**
	 * The gateway passes no exchange to limiters, so that ours looks for it in the
	 * context.
	 */
	@Bean
	@ConditionalOnMissingBean
	ExchangeContextWebFilter rateLimitExchangeContextFilter() {
		return new ExchangeContextWebFilter();
	}

	@Bean
	SmartInitializingSingleton rateLimitStandInRouteCheck(GatewayProperties properties, BeanFactory beans) {
		return () -> StandInRoutes.check(properties, beans);
	}

	@Bean
	StandInCosts rateLimitStandInCosts(
			@Qualifier("distributedRateLimiter") ObjectProvider<DistributedRateLimiter> limiter) {
		return (policy) -> policy.equals(DistributedRateLimiter.POLICY)
				? limiter.stream().mapToLong(DistributedRateLimiter::largestCost).reduce(1, Math::max) : 1;
	}

	/** Metered under its id, next to the policies in force. */
	@Bean(defaultCandidate = false)
	Policy rateLimitStandInPolicy() {
		return DistributedRateLimiter.policy(Quota.parse("1/s"));
	}

	@Bean
	SmartInitializingSingleton rateLimitRoutePolicyCheck(GatewayProperties properties, Policies policies,
			UnknownPolicies unknown) {
		return () -> {
			List<RouteFilter> filters = ConfiguredRoutes.filters(properties);
			filters.forEach(ConfiguredRoutes::requireValid);
			RoutePolicyCheck.check(filters, policies.get(), unknown::found);
		};
	}

	@Bean
	PolicyUses rateLimitRoutePolicyUses(GatewayProperties properties) {
		return (policy) -> RoutePolicyCheck.places(ConfiguredRoutes.filters(properties), policy);
	}

}
