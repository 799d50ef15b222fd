package dev.ratelimit.aop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

import dev.ratelimit.Algorithm;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.MissingIdentity;
import dev.ratelimit.Policy;
import dev.ratelimit.web.HeaderOptions;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.policy.PolicySet;

/**
 * What every application with the annotation has, on counters that stand still.
 */
@Configuration(proxyBeanMethods = false)
@Import(RateLimitedAutoConfiguration.ProxyRegistrar.class)
class AopConfiguration {

	static final PolicySet POLICIES = PolicySet.of(
			Policy.of("orders", Algorithm.GCRA, Limit.of("all", List.of(), "3/m")),
			Policy.of("wide", Algorithm.GCRA, Limit.of("all", List.of(), "100/m")),
			Policy.of("accounts", Algorithm.GCRA, Limit.of("per-key", List.of(new Dimension("key")), "3/m")),
			Policy.of("routes", Algorithm.GCRA, Limit.of("per-route", List.of(Dimension.ROUTE), "3/m")),
			Policy.of("users", Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), "3/m")),
			Policy.builder("users-or-free")
				.limit("per-user", List.of(Dimension.USER), "3/m")
				.onMissingIdentity(MissingIdentity.SKIP)
				.build(),
			Policy.builder("users-closed")
				.limit("per-user", List.of(Dimension.USER), "3/m")
				.onFailure(FailureMode.DENY)
				.build(),
			Policy.builder("closed")
				.limit("all", List.of(), "3/m")
				.cost("/export/**", 2)
				.onFailure(FailureMode.DENY)
				.build());

	@Bean
	RecordedTraces traces() {
		return new RecordedTraces();
	}

	@Bean
	RecordedLimiter limiter() {
		return new RecordedLimiter(POLICIES);
	}

	@Bean
	RequestResolver requestResolver() {
		return new RequestResolver(IdentityOptions.DEFAULTS, "local", Map.of(), null, List.of(), () -> POLICIES);
	}

	@Bean
	HttpAnswers httpAnswers() {
		return new HttpAnswers(HeaderOptions.DEFAULTS, () -> 1_700_000_000_000L, (bound) -> 0, List.of());
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedMethods rateLimitedMethods() {
		return new RateLimitedMethods();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedAdvisor rateLimitedAdvisor(RateLimitedMethods methods, ObjectProvider<RateLimitedAspect> aspect) {
		return new RateLimitedAdvisor(methods, aspect::getObject);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RateLimitedAutoConfiguration.ProxyCheck rateLimitedProxyCheck(RateLimitedMethods methods) {
		return new RateLimitedAutoConfiguration.ProxyCheck(methods);
	}

	@Bean
	RateLimitedAspect rateLimitedAspect(RateLimitedMethods methods, RequestResolver resolver, RecordedLimiter limiter,
			HttpAnswers answers, RecordedTraces traces, ObjectProvider<CurrentCall.Source> currentCall,
			ObjectProvider<DecisionListener> listeners) {
		return new RateLimitedAspect(methods, List.of(), resolver, limiter, answers,
				currentCall.getIfAvailable(() -> ServletCurrentCall.SOURCE), traces, ForkJoinPool.commonPool(),
				listeners.orderedStream().toList());
	}

}
