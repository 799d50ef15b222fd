package dev.ratelimit.autoconfigure;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import jakarta.servlet.DispatcherType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.context.WebApplicationContext;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.config.DimensionMapper;
import dev.ratelimit.config.PolicyWarnings;
import dev.ratelimit.config.PropertyCheck;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.config.UrlMapper;
import dev.ratelimit.config.UrlReload;
import dev.ratelimit.control.PolicyUses;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.SettledPolicies;
import dev.ratelimit.web.UrlCheck;
import dev.ratelimit.web.UrlLimits;
import dev.ratelimit.web.reactive.ExchangeCorsHeaders;
import dev.ratelimit.web.reactive.RefusedConnections;
import dev.ratelimit.web.reactive.UrlLimitWebFilter;
import dev.ratelimit.web.servlet.CorsHeaders;
import dev.ratelimit.web.servlet.UrlLimitFilter;

/**
 * Limits by URL: two filters on each stack, one before Spring Security's and one after
 * all others, when the caller is known.
 */
@AutoConfiguration(after = { RateLimitAutoConfiguration.class, RateLimitControlAutoConfiguration.class })
@ConditionalOnBean({ RateLimiter.class, RequestResolver.class, HttpAnswers.class, Policies.class })
@Import(UrlCorsConfiguration.class)
public final class RateLimitUrlsAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	/** The order of Spring Security's filter by default. */
	private static final int SECURITY = -100;

	/** The path of Spring's servlet, without the slash at its end. */
	private static String servletPath(ApplicationContext context) {
		return (context instanceof WebApplicationContext) ? servletPath(context.getEnvironment()) : "";
	}

	private static String servletPath(Environment environment) {
		return environment.getProperty("spring.mvc.servlet.path", "/").replaceFirst("/?(\\*.*)?$", "");
	}

	/**
	 * The entries, for an application with paths.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication
	static class Entries {

		@Bean
		UrlMapper rateLimitUrlMapper(RateLimitProperties properties) {
			Set<Dimension> known = new HashSet<>(Set.of(Dimension.IP, Dimension.REGION));
			DimensionMapper.declared(properties.dimensions()).forEach((name, dimension) -> {
				if (dimension.knownBeforeAuthentication()) {
					known.add(new Dimension(name));
				}
			});
			return new UrlMapper(known);
		}

		@Bean
		UrlLimits rateLimitUrls(RateLimitProperties properties, UrlMapper mapper, ObjectProvider<NeverLimited> never,
				ApplicationContext context) {
			SingletonSupplier<List<NeverLimited>> all = SingletonSupplier.of(() -> never.orderedStream().toList());
			UrlLimits limits = new UrlLimits((path) -> all.obtain().stream().anyMatch((some) -> some.test(path)),
					servletPath(context));
			limits.replace(mapper.map(properties.urls()));
			return limits;
		}

		@Bean
		SmartInitializingSingleton rateLimitUrlPolicyCheck(UrlLimits limits, UrlMapper mapper, Policies policies,
				UnknownPolicies unknown) {
			return () -> limits.all().forEach((entry) -> {
				unknown.requireFitting("'" + UrlMapper.AT + "." + entry.name() + ".policy'", entry.policy(),
						(version) -> mapper.requireFitting(entry, version));
				Policy policy = policies.get().find(entry.policy());
				if (policy != null && entry.cost() != null) {
					PolicyWarnings.neverFits("URL entry '" + entry.name() + "'", policy, entry.cost())
						.ifPresent(logger::warn);
				}
			});
		}

		@Bean
		PolicyUses rateLimitUrlPolicyUses(UrlLimits limits, UrlMapper mapper) {
			return new PolicyUses() {

				@Override
				public List<String> of(String policy) {
					return limits.all()
						.stream()
						.filter((entry) -> entry.policy().equals(policy))
						.map((entry) -> "URL entry '" + entry.name() + "'")
						.toList();
				}

				@Override
				public void requireFitting(Policy policy) {
					mapper.requireFitting(limits.all(), policy);
				}

			};
		}

		@Bean
		UrlReload rateLimitUrlReload(UrlLimits limits, UrlMapper mapper, Policies policies, Environment environment,
				PropertyCheck check) {
			return new UrlReload(limits, mapper, policies, environment, check);
		}

	}

	/**
	 * An application without paths.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnNotWebApplication
	static class NoPaths {

		@Bean
		SmartInitializingSingleton rateLimitUrlsWithoutPaths(RateLimitProperties properties) {
			return () -> {
				if (!properties.urls().isEmpty()) {
					logger.warn("'{}' has no effect: this is not a web application", UrlMapper.AT);
				}
			};
		}

	}

	/**
	 * Endpoints of the actuator on the application's own port.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication
	@ConditionalOnClass(PathMappedEndpoints.class)
	static class Management {

		@Bean
		NeverLimited rateLimitManagementPaths(ObjectProvider<PathMappedEndpoints> endpoints,
				ApplicationContext context) {
			Environment environment = context.getEnvironment();
			String servlet = servletPath(context);
			String own = environment.getProperty("management.server.port");
			boolean shared = own == null
					|| (!own.equals("0") && own.equals(environment.getProperty("server.port", "8080")));
			SingletonSupplier<Set<String>> paths = SingletonSupplier.of(() -> paths(endpoints, shared, servlet));
			SingletonSupplier<Set<String>> pages = SingletonSupplier.of(() -> shared ? endpoints.stream()
				.map(PathMappedEndpoints::getBasePath)
				.filter(StringUtils::hasText)
				.map(servlet::concat)
				.collect(Collectors.toSet()) : Set.of());
			return (path) -> pages.obtain().contains(path)
					|| paths.obtain().stream().anyMatch((endpoint) -> UrlLimits.isBelow(path, endpoint));
		}

		/** Health groups may be on the application's port although the others are not. */
		private static Set<String> paths(ObjectProvider<PathMappedEndpoints> endpoints, boolean shared,
				String servlet) {
			Set<String> paths = new HashSet<>();
			endpoints.forEach((mapped) -> {
				if (shared) {
					mapped.getAllPaths().stream().map(servlet::concat).forEach(paths::add);
				}
				mapped.stream()
					.flatMap((endpoint) -> endpoint.getAdditionalPaths(WebServerNamespace.SERVER).stream())
					.map(servlet::concat)
					.forEach(paths::add);
			});
			return paths;
		}

	}

	/**
	 * Filters of the servlet stack.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.SERVLET)
	static class OnServlet {

		/** The second name is Boot 4's. */
		@Bean
		NeverLimited rateLimitErrorPath(Environment environment) {
			String error = environment.getProperty("server.error.path",
					environment.getProperty("spring.web.error.path", "/error"));
			return (servletPath(environment) + error)::equals;
		}

		@Bean
		FilterRegistrationBean<UrlLimitFilter> rateLimitUrlFilterBeforeAuthentication(UrlLimits limits,
				RequestResolver resolver, RateLimiter limiter, HttpAnswers answers,
				ObjectProvider<CallTrace.Source> traces, CorsHeaders cors, Environment environment) {
			int security = environment.getProperty("spring.security.filter.order", Integer.class, SECURITY);
			// The smallest number has none before it.
			int before = Math.max(security, Integer.MIN_VALUE + 1) - 1;
			FilterRegistrationBean<UrlLimitFilter> registration = filter(new UrlCheck(limits, resolver, limiter, true),
					answers, traces, cors, true);
			registration.setDispatcherTypes(EnumSet.of(DispatcherType.REQUEST));
			registration.setOrder(before);
			return registration;
		}

		@Bean
		FilterRegistrationBean<UrlLimitFilter> rateLimitUrlFilter(UrlLimits limits, RequestResolver resolver,
				RateLimiter limiter, HttpAnswers answers, ObjectProvider<CallTrace.Source> traces, CorsHeaders cors) {
			FilterRegistrationBean<UrlLimitFilter> registration = filter(new UrlCheck(limits, resolver, limiter, false),
					answers, traces, cors, false);
			registration.setDispatcherTypes(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
			registration.setOrder(Ordered.LOWEST_PRECEDENCE);
			return registration;
		}

		private static FilterRegistrationBean<UrlLimitFilter> filter(UrlCheck check, HttpAnswers answers,
				ObjectProvider<CallTrace.Source> traces, CorsHeaders cors, boolean beforeAuthentication) {
			return new FilterRegistrationBean<>(new UrlLimitFilter(check, answers,
					traces.getIfAvailable(() -> CallTrace.Source.NONE), cors, beforeAuthentication));
		}

	}

	/**
	 * Filters of the reactive stack and its gateway.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = Type.REACTIVE)
	static class OnReactive {

		@Bean
		UrlLimitWebFilter rateLimitUrlFilterBeforeAuthentication(UrlLimits limits, RequestResolver resolver,
				RateLimiter limiter, HttpAnswers answers, ObjectProvider<CallTrace.Source> traces,
				ExchangeCorsHeaders cors, ObjectProvider<RefusedConnections> connections, ApplicationContext context) {
			return new UrlLimitWebFilter(new UrlCheck(limits, resolver, limiter, true), answers,
					traces.getIfAvailable(() -> CallTrace.Source.NONE), cors,
					connections.getIfAvailable(() -> RefusedConnections.KEPT), context, SECURITY - 1, () -> false);
		}

		@Bean
		UrlLimitWebFilter rateLimitUrlFilter(UrlLimits limits, RequestResolver resolver, RateLimiter limiter,
				HttpAnswers answers, ObjectProvider<CallTrace.Source> traces, ExchangeCorsHeaders cors,
				ObjectProvider<RefusedConnections> connections, ApplicationContext context, Policies policies) {
			return new UrlLimitWebFilter(new UrlCheck(limits, resolver, limiter, false), answers,
					traces.getIfAvailable(() -> CallTrace.Source.NONE), cors,
					connections.getIfAvailable(() -> RefusedConnections.KEPT), context, Ordered.LOWEST_PRECEDENCE,
					new SettledPolicies(policies));
		}

	}

	/**
	 * Paths within the application that no URL entry matches.
	 */
	@FunctionalInterface
	interface NeverLimited extends Predicate<String> {

	}

}
