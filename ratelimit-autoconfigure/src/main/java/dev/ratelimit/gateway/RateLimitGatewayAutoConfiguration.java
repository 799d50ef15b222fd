package dev.ratelimit.autoconfigure;

import java.util.List;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Quota;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.gateway.DistributedRateLimiter;
import dev.ratelimit.gateway.InvalidRouteException;
import dev.ratelimit.gateway.RateLimitGatewayFilterFactory;
import dev.ratelimit.gateway.RoutePolicyCheck;
import dev.ratelimit.gateway.StandInRoutes;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.metrics.FixedPolicies;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.reactive.ExchangeContextWebFilter;

/**
 * The filter for gateway routes, and the stand-in for the gateway's own limiter.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class,
		afterName = "org.springframework.cloud.gateway.config.GatewayAutoConfiguration")
@ConditionalOnClass({ AbstractGatewayFilterFactory.class, GatewayProperties.class })
@ConditionalOnBean({ RateLimiter.class, GatewayProperties.class })
public class RateLimitGatewayAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	RateLimitGatewayFilterFactory rateLimitGatewayFilterFactory(RateLimiter limiter, RequestResolver resolver,
			HttpAnswers answers, ObjectProvider<CallTrace.Source> traces) {
		return new RateLimitGatewayFilterFactory(limiter, resolver, answers,
				traces.getIfAvailable(() -> CallTrace.Source.NONE));
	}

	/**
	 * No default candidate: the gateway's own limiter stays the one that is injected by
	 * type.
	 */
	@Bean(defaultCandidate = false)
	@ConditionalOnMissingBean(name = "distributedRateLimiter")
	DistributedRateLimiter distributedRateLimiter(ConfigurationService configuration, RateLimitProperties properties,
			Policies inForce, RequestResolver resolver, HttpAnswers answers, CounterKeys keys, Counters counters,
			HotCounters hot, TopRefusals refusals, Fallback fallback, ObjectProvider<DecisionListener> listeners) {
		return new DistributedRateLimiter(configuration, resolver, inForce,
				(policies) -> new PolicyRateLimiter(policies, keys, counters, fallback,
						RateLimitAutoConfiguration.options(properties), listeners.orderedStream().toList(),
						RateLimitAutoConfiguration.splitting(counters, hot), refusals),
				answers, RateLimitAutoConfiguration.headers(properties));
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
		return () -> {
			try {
				StandInRoutes.check(properties, beans);
			}
			catch (InvalidRouteException ex) {
				throw new InvalidPolicyException(ex.problem(), ex.fix());
			}
		};
	}

	@Bean
	CostsBeside rateLimitStandInCosts(
			@Qualifier("distributedRateLimiter") ObjectProvider<DistributedRateLimiter> limiter) {
		return (policy) -> policy.equals(DistributedRateLimiter.POLICY)
				? limiter.stream().mapToLong(DistributedRateLimiter::largestCost).reduce(1, Math::max) : 1;
	}

	@Bean
	FixedPolicies rateLimitStandInPolicy() {
		return new FixedPolicies(List.of(DistributedRateLimiter.policy(Quota.parse("1/s"))));
	}

	@Bean
	SmartInitializingSingleton rateLimitRoutePolicyCheck(GatewayProperties properties, Policies policies,
			ObjectProvider<ControlPlane> control) {
		return () -> RoutePolicyCheck.check(properties, policies.get(), (where, id) -> UnknownPolicy
			.found("The RateLimit filter of " + where, id, policies, control.getIfAvailable()));
	}

	@Bean
	PolicyUses rateLimitRoutePolicyUses(GatewayProperties properties) {
		return (policy) -> RoutePolicyCheck.places(properties, policy);
	}

}
