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

import dev.ratelimit.actuate.Audit;
import dev.ratelimit.actuate.AuditAdmin;
import dev.ratelimit.actuate.AuditTrail;
import dev.ratelimit.actuate.AuthorityCheck;
import dev.ratelimit.actuate.RecordedTenantLimits;
import dev.ratelimit.actuate.TenantAdmin;
import dev.ratelimit.actuate.TenantController;
import dev.ratelimit.actuate.TenantLimits;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.web.IdentityOptions;
import dev.ratelimit.web.VerifiedTenant;

/**
 * What a tenant's administrator may do, on the application's own port. Needs tokens that
 * Spring Security has verified, and the actuator for the audit.
 */
@AutoConfiguration(after = { RateLimitAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class })
@ConditionalOnProperty("ratelimit.self-service.enabled")
@ConditionalOnWebApplication
@ConditionalOnClass(name = { "org.springframework.boot.actuate.audit.AuditEvent",
		"org.springframework.security.core.Authentication" })
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
			ObjectProvider<PolicyRateLimiter> limiter, TenantLimits limits, Audit audit, AuditTrail trail) {
		RateLimitProperties.Identity identity = properties.identity();
		IdentityOptions options = new IdentityOptions(identity.tenantClaim(), identity.userClaim(),
				identity.tierClaim(), "", Map.of(), 0);
		TenantAdmin tenants = new TenantAdmin(policies, () -> limiter.getObject().usage(), limits,
				(principal) -> VerifiedTenant.of(principal, options),
				new AuthorityCheck(properties.selfService().authority()), audit, Clock.systemUTC());
		return new TenantController(tenants, new AuditAdmin(trail, audit));
	}

}
