package dev.ratelimit.autoconfigure;

import java.time.Clock;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.actuate.Audit;
import dev.ratelimit.actuate.AuditTrail;
import dev.ratelimit.actuate.RolloutAudit;
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
	Audit rateLimitAudit(ApplicationEventPublisher publisher, AuditTrail trail) {
		return new Audit(publisher, Clock.systemUTC(), trail);
	}

	@Bean
	@ConditionalOnMissingBean
	RolloutAudit rateLimitRolloutAudit(Audit audit) {
		return new RolloutAudit(audit);
	}

}
