package dev.ratelimit.autoconfigure;

import java.time.Clock;

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
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;

import dev.ratelimit.actuate.AdminPaths;
import dev.ratelimit.actuate.AuditAdmin;
import dev.ratelimit.actuate.DeniedAttempts;
import dev.ratelimit.actuate.HotKeyAdmin;
import dev.ratelimit.actuate.Overview;
import dev.ratelimit.actuate.PolicyAdmin;
import dev.ratelimit.actuate.RateLimitEndpoint;
import dev.ratelimit.actuate.RecordAdmin;
import dev.ratelimit.actuate.RefusalAdmin;
import dev.ratelimit.actuate.ServletDeniedListener;
import dev.ratelimit.actuate.SwitchAdmin;
import dev.ratelimit.actuate.UsageAdmin;
import dev.ratelimit.admin.AdminCheck;
import dev.ratelimit.admin.AdminReaders;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.AuditTrail;
import dev.ratelimit.admin.AuthorityCheck;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotSplits;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.limiter.RedSwitch;
import dev.ratelimit.refusal.CallerNames;
import dev.ratelimit.refusal.RefusalHistory;
import dev.ratelimit.refusal.RefusalRecorder;

/**
 * The actuator endpoint {@code ratelimit}. It speaks HTTP only: a worker may expose it,
 * and has none.
 */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, ResponseEntity.class })
@ConditionalOnAvailableEndpoint(RateLimitEndpoint.class)
@ConditionalOnBean(Policies.class)
@Import({ AuditConfiguration.class, AdminWebConfiguration.class })
public class RateLimitEndpointAutoConfiguration {

	private static final String SECURITY = "org.springframework.security.core.Authentication";

	@Bean
	@ConditionalOnMissingBean
	RateLimitEndpoint rateLimitEndpoint(Policies policies, Counters counters, Fleet fleet, SwitchAdmin redSwitch,
			HotKeyAdmin hotKeys, UsageAdmin usage, AuditTrail trail, Audit audit, PolicyAdmin policyAdmin,
			RecordAdmin records, RefusalAdmin refusals, RateLimitProperties properties, ObjectProvider<Nodes> nodes,
			AdminCheck check) {
		Overview overview = new Overview(policies, counters, fleet, properties.region(), Breakers.of(nodes),
				policyAdmin::describe);
		return new RateLimitEndpoint(new AdminReaders(check, audit), overview, redSwitch, hotKeys, usage,
				new AuditAdmin(trail, audit), policyAdmin, records, refusals);
	}

	@Bean
	@ConditionalOnMissingBean
	PolicyAdmin rateLimitPolicyAdmin(ObjectProvider<ControlPlane> control, ObjectProvider<RolloutLeader> leader,
			LivePolicies live, AdminCheck check, Audit audit) {
		RolloutLeader rollouts = leader.getIfAvailable();
		return new PolicyAdmin(control.getIfAvailable(), live, (id) -> (rollouts != null) ? rollouts.state(id) : null,
				PolicyDocument::of, check, audit);
	}

	@Bean
	@ConditionalOnMissingBean
	RecordAdmin rateLimitRecordAdmin(ObjectProvider<ControlPlane> control, AdminCheck check, Audit audit) {
		return new RecordAdmin(control.getIfAvailable(), check, audit);
	}

	@Bean
	@ConditionalOnMissingBean
	SwitchAdmin rateLimitSwitchAdmin(RedSwitch redSwitch, AdminCheck check, Audit audit) {
		return new SwitchAdmin(redSwitch, check, audit, Clock.systemUTC());
	}

	/**
	 * A limiter of the application's own has no counters that could be named.
	 */
	@Bean
	@ConditionalOnMissingBean
	HotKeyAdmin rateLimitHotKeyAdmin(HotCounters hot, TopRefusals refusals, HotSplits splits, Policies policies,
			ObjectProvider<PolicyRateLimiter> limiter, AdminCheck check, Audit audit) {
		return new HotKeyAdmin(hot, refusals, splits, policies,
				(request, limit) -> limiter.getObject().usage().counters(request, limit), check, audit,
				Clock.systemUTC());
	}

	/**
	 * A limiter of the application's own has no counters that could be looked at.
	 */
	@Bean
	@ConditionalOnMissingBean
	UsageAdmin rateLimitUsageAdmin(Policies policies, ObjectProvider<PolicyRateLimiter> limiter, AdminCheck check,
			Audit audit) {
		return new UsageAdmin(policies, () -> limiter.getObject().usage(), check, audit, Clock.systemUTC());
	}

	@Bean
	@ConditionalOnMissingBean
	RefusalAdmin rateLimitRefusalAdmin(Policies policies, ObjectProvider<RefusalHistory> history,
			ObjectProvider<CallerNames> names, ObjectProvider<RefusalRecorder> recorder) {
		return new RefusalAdmin(policies, history.getIfAvailable(), names.getIfAvailable(),
				() -> recorder.stream().mapToLong(RefusalRecorder::missing).sum());
	}

	@Bean
	@ConditionalOnMissingBean
	DeniedAttempts rateLimitDeniedAttempts(AdminPaths paths, Audit audit) {
		return new DeniedAttempts(paths, audit);
	}

	/**
	 * Hears what Spring Security turns away.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@ConditionalOnClass(name = "org.springframework.security.authorization.event.AuthorizationEvent")
	static class OnSecuredServlet {

		@Bean
		@ConditionalOnMissingBean
		ServletDeniedListener rateLimitDeniedListener(DeniedAttempts attempts) {
			return new ServletDeniedListener(attempts);
		}

	}

	/**
	 * Reads and writes need roles.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = SECURITY)
	static class WithSecurity {

		@Bean
		@ConditionalOnMissingBean(AdminCheck.class)
		AuthorityCheck rateLimitAdminCheck() {
			return new AuthorityCheck();
		}

	}

	/**
	 * Nobody can tell who calls.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass(SECURITY)
	static class WithoutSecurity {

		private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

		@Bean
		@ConditionalOnMissingBean
		AdminCheck rateLimitAdminCheck(ObjectProvider<EndpointAccessResolver> access) {
			access.ifAvailable((resolver) -> {
				if (resolver.accessFor(EndpointId.of("ratelimit"), Access.READ_ONLY) == Access.UNRESTRICTED) {
					logger.warn("Whoever reaches the actuator endpoint 'ratelimit' may change limits: it has access "
							+ "'unrestricted', and there is no Spring Security that could tell who calls. Add "
							+ "spring-boot-starter-security, or set management.endpoint.ratelimit.access=read-only");
				}
			});
			return AdminCheck.ANYBODY;
		}

	}

}
