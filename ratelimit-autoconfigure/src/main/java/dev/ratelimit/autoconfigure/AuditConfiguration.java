package dev.ratelimit.autoconfigure;

import java.time.Clock;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.actuate.AuditEvents;
import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.AuditListener;
import dev.ratelimit.admin.AuditTrail;
import dev.ratelimit.admin.RolloutAudit;
import dev.ratelimit.store.PolicyStore;

/**
 * Who changed what, for all that can change something.
 */
@Configuration(proxyBeanMethods = false)
class AuditConfiguration {

	@Bean
	@ConditionalOnMissingBean
	AuditTrail rateLimitAuditTrail(ObjectProvider<PolicyStore> store) {
		return new AuditTrail(store::getIfAvailable);
	}

	@Bean
	@ConditionalOnMissingBean
	Audit rateLimitAudit(AuditTrail trail, ObjectProvider<AuditListener> listeners) {
		return new Audit(Clock.systemUTC(), trail, listeners.orderedStream().toList());
	}

	@Bean
	@ConditionalOnMissingBean
	RolloutAudit rateLimitRolloutAudit(Audit audit) {
		return new RolloutAudit(audit);
	}

	/**
	 * Boot's audit hears of it too.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.springframework.boot.actuate.audit.listener.AuditApplicationEvent")
	static class WithActuator {

		@Bean
		@ConditionalOnMissingBean
		AuditEvents rateLimitAuditEvents(ApplicationEventPublisher publisher) {
			return new AuditEvents(publisher);
		}

	}

}
