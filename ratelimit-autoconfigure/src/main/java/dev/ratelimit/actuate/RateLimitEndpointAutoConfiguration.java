package dev.ratelimit.actuate;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.http.ResponseEntity;

import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminOperations;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.BodyLimitWebFilter;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;

/**
 * The actuator endpoint {@code ratelimit}. It needs HTTP: a worker without a web server
 * may expose it, but has none.
 */
@AutoConfiguration(after = RateLimitAdminAutoConfiguration.class)
@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, ResponseEntity.class })
@ConditionalOnAvailableEndpoint(RateLimitEndpoint.class)
@ConditionalOnBean(AdminOperations.class)
public final class RateLimitEndpointAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	@Bean
	RateLimitEndpoint rateLimitEndpoint(AdminOperations operations, Audit audit, AdminCheck check,
			ObjectProvider<EndpointAccessResolver> access) {
		if (check == AdminCheck.ANYBODY) {
			access.ifAvailable(RateLimitEndpointAutoConfiguration::warnIfOpen);
		}
		return new RateLimitEndpoint(operations, audit);
	}

	private static void warnIfOpen(EndpointAccessResolver resolver) {
		if (resolver.accessFor(EndpointId.of("ratelimit"), Access.READ_ONLY) == Access.UNRESTRICTED) {
			logger.warn("Everybody who reaches the actuator endpoint 'ratelimit' may change limits: it has access "
					+ "'unrestricted', and without Spring Security callers are unknown. Add "
					+ "spring-boot-starter-security, or set management.endpoint.ratelimit.access=read-only");
		}
	}

	@Bean
	@ConditionalOnMissingBean
	AdminPaths rateLimitAdminPaths(Environment environment) {
		String base = environment.getProperty("management.server.base-path", "")
				+ environment.getProperty("management.endpoints.web.base-path", "/actuator");
		String path = environment.getProperty("management.endpoints.web.path-mapping.ratelimit", "ratelimit");
		return new AdminPaths((base.endsWith("/") ? base : base + '/') + path);
	}

	@Bean
	DeniedAttempts rateLimitDeniedAttempts(AdminPaths paths, Audit audit) {
		return new DeniedAttempts(paths, audit);
	}

	/**
	 * Listens to Spring Security.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@ConditionalOnClass(name = "org.springframework.security.authorization.event.AuthorizationEvent")
	static class OnSecuredServlet {

		@Bean
		ServletDeniedListener rateLimitDeniedListener(DeniedAttempts attempts) {
			return new ServletDeniedListener(attempts);
		}

	}

	/**
	 * Filters of the reactive stack.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
	static class OnReactive {

		@Bean
		@ConditionalOnMissingBean(name = "rateLimitBodyLimit")
		BodyLimitWebFilter rateLimitBodyLimit(AdminPaths paths) {
			return new BodyLimitWebFilter(paths::contain);
		}

		@Bean
		@ConditionalOnClass(name = "org.springframework.security.web.server.WebFilterChainProxy")
		EncodedSlashWebFilter rateLimitEncodedSlash(AdminPaths paths) {
			return new EncodedSlashWebFilter(paths);
		}

	}

}
