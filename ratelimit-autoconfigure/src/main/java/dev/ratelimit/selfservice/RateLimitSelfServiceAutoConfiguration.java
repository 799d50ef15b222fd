package dev.ratelimit.autoconfigure;

import java.time.Clock;
import java.util.Map;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.AuthorityCheck;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.selfservice.RecordedTenantLimits;
import dev.ratelimit.selfservice.TenantAdmin;
import dev.ratelimit.selfservice.TenantController;
import dev.ratelimit.selfservice.TenantLimits;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.VerifiedTenant;

/**
 * What a tenant's administrator may do, on the application's own port. Needs tokens that
 * Spring Security has verified.
 */
@AutoConfiguration(after = { RateLimitAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class })
@ConditionalOnProperty("ratelimit.self-service.enabled")
@ConditionalOnWebApplication
@ConditionalOnClass(name = "org.springframework.security.core.Authentication")
@ConditionalOnBean(Policies.class)
@Import({ AuditConfiguration.class, AdminWebConfiguration.class })
public class RateLimitSelfServiceAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	TenantLimits rateLimitTenantLimits(Policies policies, ObjectProvider<ControlPlane> plane) {
		return new RecordedTenantLimits(policies, plane::getIfAvailable);
	}

	@Bean
	@ConditionalOnMissingBean
	TenantController rateLimitTenantController(RateLimitProperties properties, Policies policies,
			ObjectProvider<PolicyRateLimiter> limiter, TenantLimits limits, Audit audit) {
		RateLimitProperties.Identity identity = properties.identity();
		IdentityOptions options = new IdentityOptions(identity.tenantClaim(), identity.userClaim(),
				identity.tierClaim(), "", Map.of(), 0);
		TenantAdmin tenants = new TenantAdmin(policies, () -> limiter.getObject().usage(), limits,
				(principal) -> VerifiedTenant.of(principal, options),
				new AuthorityCheck(properties.selfService().authority()), audit, Clock.systemUTC());
		return new TenantController(tenants, audit);
	}

}
