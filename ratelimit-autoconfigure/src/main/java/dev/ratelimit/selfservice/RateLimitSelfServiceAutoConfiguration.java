package dev.ratelimit.selfservice;

import java.time.Clock;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.actuate.AdminPaths;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.BodyLimitWebFilter;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.admin.RecordNames;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.web.CallerResolver;
import dev.ratelimit.web.VerifiedTenant;

/**
 * Lets administrators of tenants see and tighten the limits of their tenant, on the
 * application's own port. Needs tokens that Spring Security has verified.
 */
@AutoConfiguration(after = RateLimitAdminAutoConfiguration.class)
@ConditionalOnProperty("ratelimit.self-service.enabled")
@ConditionalOnWebApplication
@ConditionalOnClass(name = "org.springframework.security.core.Authentication")
@ConditionalOnBean(Audit.class)
public final class RateLimitSelfServiceAutoConfiguration {

	@Bean
	TenantController rateLimitTenantController(RateLimitProperties properties, Policies policies, RecordReader reader,
			ObjectProvider<PolicyRateLimiter> limiter, ObjectProvider<ControlPlane> control, Audit audit,
			ObjectProvider<CallerResolver> callers, RecordNames names) {
		TenantAdmin tenants = new TenantAdmin(policies, () -> limiter.getObject().usage(),
				new TenantLimits(policies, control.getIfAvailable(), reader),
				(principal) -> VerifiedTenant.of(principal, properties.identity(), callers.orderedStream().toList()),
				properties.selfService().authority(), names, audit, Clock.systemUTC());
		return new TenantController(tenants, audit);
	}

	/**
	 * The filter of the reactive stack.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
	static class OnReactive {

		@Bean
		@ConditionalOnMissingBean(name = "rateLimitTenantBodyLimit")
		BodyLimitWebFilter rateLimitTenantBodyLimit() {
			return new BodyLimitWebFilter(new AdminPaths(TenantController.PATH)::contain);
		}

	}

}
