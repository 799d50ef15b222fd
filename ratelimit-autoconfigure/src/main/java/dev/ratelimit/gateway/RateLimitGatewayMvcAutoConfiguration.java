package dev.ratelimit.gateway;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.cloud.gateway.server.mvc.common.Shortcut;
import org.springframework.cloud.gateway.server.mvc.config.GatewayMvcProperties;
import org.springframework.cloud.gateway.server.mvc.filter.FilterSupplier;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.UnknownPolicies;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;

/**
 * The filter for routes of Spring Cloud Gateway Server WebMVC.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass({ FilterSupplier.class, GatewayMvcProperties.class })
@ConditionalOnWebApplication(type = Type.SERVLET)
@ConditionalOnProperty(name = GatewayMvcProperties.PREFIX + ".enabled", matchIfMissing = true)
@ConditionalOnBean({ RateLimiter.class, RequestResolver.class, HttpAnswers.class, Policies.class })
public final class RateLimitGatewayMvcAutoConfiguration {

	/** The gateway asks for it before it makes its routes. */
	@Bean
	FilterSupplier rateLimitFilterSupplier(Environment environment) {
		MvcRoutes.filters(environment).forEach(MvcRoutes::requireValid);
		return routeFilters();
	}

	static FilterSupplier routeFilters() {
		List<Method> filters = Arrays.stream(RateLimitFilterFunctions.class.getMethods())
			.filter((method) -> method.isAnnotationPresent(Shortcut.class))
			.toList();
		return () -> filters;
	}

	@Bean
	MvcRouteCheck rateLimitMvcRouteCheck(RateLimiter limiter, RequestResolver resolver, HttpAnswers answers,
			ObjectProvider<CallTrace.Source> traces) {
		return new MvcRouteCheck(limiter, resolver, answers, traces.getIfAvailable(() -> CallTrace.Source.NONE));
	}

	@Bean
	MvcReadableEncoding rateLimitMvcReadableEncoding() {
		return new MvcReadableEncoding();
	}

	@Bean
	SmartInitializingSingleton rateLimitMvcRoutePolicyCheck(Environment environment, Policies policies,
			UnknownPolicies unknown) {
		return () -> RoutePolicyCheck.check(MvcRoutes.filters(environment), policies.get(), unknown::found);
	}

	@Bean
	PolicyUses rateLimitMvcRoutePolicyUses(Environment environment) {
		return (policy) -> RoutePolicyCheck.places(MvcRoutes.filters(environment), policy);
	}

}
