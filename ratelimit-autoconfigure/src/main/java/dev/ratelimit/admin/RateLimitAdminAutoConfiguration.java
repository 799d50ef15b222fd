package dev.ratelimit.admin;

import java.time.Clock;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.io.ResourceLoader;
import org.springframework.http.ResponseEntity;
import org.springframework.util.ClassUtils;

import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRefusalsAutoConfiguration;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.caller.Pseudonyms;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.control.LivePolicies;
import dev.ratelimit.control.RecordReader;
import dev.ratelimit.control.RolloutLeader;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.FleetRevisions;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.limiter.CallerUsage;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.metrics.MeterNames;
import dev.ratelimit.penalty.CallerKey;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.penalty.PenaltyExchange;
import dev.ratelimit.refusal.RefusalHistory;
import dev.ratelimit.refusal.RefusalRecorder;
import dev.ratelimit.split.HotSplits;
import dev.ratelimit.store.PolicyStore;
import dev.ratelimit.web.UrlLimits;

/**
 * The audit trail, and the operations on limits at run time. The trail needs no web
 * application: every instance may lead a rollout, and records what it does.
 */
@AutoConfiguration(
		after = { RateLimitAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
				RateLimitRefusalsAutoConfiguration.class },
		afterName = { "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration" })
@ConditionalOnBean(Policies.class)
public final class RateLimitAdminAutoConfiguration {

	private static final String SECURITY = "org.springframework.security.core.Authentication";

	@Bean(initMethod = "start", destroyMethod = "close")
	AuditTrail rateLimitAuditTrail(ObjectProvider<PolicyStore> store) {
		return new AuditTrail(store.getIfAvailable());
	}

	@Bean
	Audit rateLimitAudit(AuditTrail trail, ObjectProvider<AuditListener> listeners) {
		return new Audit(Clock.systemUTC(), trail, listeners.orderedStream().toList());
	}

	/** Lazy: an application that offers no operations may hash nothing. */
	@Bean
	@Lazy
	RecordNames rateLimitRecordNames(Pseudonyms pseudonyms, RateLimitProperties properties) {
		return new RecordNames(pseudonyms, properties.identity().hash().dimensions(),
				properties.identity().ipv6Prefix());
	}

	@Bean
	ReloadAudit rateLimitReloadAudit(Audit audit, RecordReader reader, Fleet fleet) {
		return new ReloadAudit(audit, reader, fleet.instance(), System::nanoTime);
	}

	/**
	 * Where the fleet shares a trail.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBean(PolicyStore.class)
	static class Trimmed {

		@Bean(initMethod = "start", destroyMethod = "close")
		AuditTrimmer rateLimitAuditTrimmer(PolicyStore store, Audit audit, RateLimitProperties properties,
				Fleet fleet) {
			RateLimitProperties.Audit bounds = properties.audit();
			AuditOptions options = PolicyMapper.checked(
					"Set, under 'ratelimit.audit', retention to 1d to 3650d and max-entries to 100 to 10000000.",
					() -> new AuditOptions(bounds.retention(), bounds.maxEntries()));
			return new AuditTrimmer(store, audit, options, fleet.instance(), InstantSource.system());
		}

	}

	/**
	 * Where there is a registry.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class Metered {

		@Bean
		FunctionCounter rateLimitAuditLost(MeterRegistry registry, AuditTrail trail) {
			return FunctionCounter.builder(MeterNames.AUDIT_LOST, trail, AuditTrail::lost)
				.description("Entries of this instance that are not in the audit trail")
				.register(registry);
		}

	}

	/**
	 * The operations. Their problems are responses of Spring Web.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ResponseEntity.class)
	static class Operations {

		/**
		 * Lazy: an application that offers no operations needs none, and may have several
		 * checks. The limiter is looked up by each call: the application's own one may be
		 * another.
		 */
		@Bean
		@Lazy
		AdminOperations rateLimitAdminOperations(RateLimitProperties properties, Policies policies, LivePolicies live,
				RecordReader reader, Counters counters, Fleet fleet, ModeSwitch modeSwitch, HotCounters hot,
				TopRefusals topRefusals, HotSplits splits, Penalties penalties, AdminCheck check, Audit audit,
				AuditTrail trail, ListableBeanFactory beans) {
			AdminAccess access = new AdminAccess(check, audit);
			ControlPlane control = beans.getBeanProvider(ControlPlane.class).getIfAvailable();
			RolloutLeader rollouts = beans.getBeanProvider(RolloutLeader.class).getIfAvailable();
			Supplier<CallerUsage> usage = () -> beans.getBean(PolicyRateLimiter.class).usage();
			PenaltyExchange exchange = beans.getBeanProvider(PenaltyExchange.class).getIfAvailable();
			ObjectProvider<RefusalRecorder> recorders = beans.getBeanProvider(RefusalRecorder.class);
			PolicyAdmin policyAdmin = new PolicyAdmin(control, live,
					(id) -> (rollouts != null) ? rollouts.state(id) : null, reader, access);
			SwitchAdmin switchAdmin = new SwitchAdmin(modeSwitch, access, Clock.systemUTC());
			return new AdminOperations(new Overview(counters, fleet, properties.region(),
					beans.getBeanProvider(Nodes.class)::getIfAvailable, urls(beans), switchAdmin, policyAdmin, access),
					policyAdmin,
					new RecordAdmin(control, beans.getBeanProvider(FleetRevisions.class).getIfAvailable(),
							beans.getBean(RecordNames.class), access),
					switchAdmin,
					new HotKeyAdmin(hot, topRefusals, splits, policies,
							(request, limit) -> usage.get().counters(request, limit), access, Clock.systemUTC()),
					new BanAdmin(penalties, (caller) -> lift(caller, penalties, exchange), policies, usage,
							beans.getBean(Pseudonyms.class), access, Clock.systemUTC()),
					new UsageAdmin(policies, usage, access, Clock.systemUTC()),
					new RefusalAdmin(policies, beans.getBeanProvider(RefusalHistory.class).getIfAvailable(),
							beans.getBeanProvider(CallerNames.class).getIfAvailable(),
							() -> recorders.stream().mapToLong(RefusalRecorder::missing).sum(), access),
					new AuditAdmin(trail, access));
		}

		private static CompletionStage<Void> lift(CallerKey caller, Penalties penalties,
				@Nullable PenaltyExchange exchange) {
			if (exchange != null) {
				return exchange.lift(caller);
			}
			penalties.lift(caller.key());
			return CompletableFuture.completedStage(null);
		}

		private static Supplier<Map<String, Object>> urls(ListableBeanFactory beans) {
			ObjectProvider<UrlLimits> limits = beans.getBeanProvider(UrlLimits.class);
			return () -> {
				UrlLimits found = limits.getIfAvailable();
				return (found != null) ? found.documents() : Map.of();
			};
		}

	}

	/**
	 * With Spring Security, operations need roles. Without it, callers are unknown.
	 */
	@Bean
	@ConditionalOnMissingBean
	AdminCheck rateLimitAdminCheck(ResourceLoader loader) {
		return ClassUtils.isPresent(SECURITY, loader.getClassLoader()) ? new AuthorityCheck(AdminCheck.AUTHORITY)
				: AdminCheck.ANYBODY;
	}

	/**
	 * Failures of controllers on the servlet stack.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@ConditionalOnClass(name = "org.springframework.web.servlet.mvc.method.annotation.RequestBodyAdvice")
	static class OnServlet {

		@Bean
		ServletAdminErrors rateLimitAdminErrors() {
			return new ServletAdminErrors();
		}

	}

}
