package dev.ratelimit.actuate;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

import dev.ratelimit.admin.Audit;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;

/**
 * Publishes attempts to change limits to Boot's audit, also where the endpoint is not
 * exposed.
 */
@AutoConfiguration(after = RateLimitAdminAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.actuate.audit.listener.AuditApplicationEvent")
@ConditionalOnBean(Audit.class)
public final class RateLimitAuditEventsAutoConfiguration {

	@Bean
	AuditEvents rateLimitAuditEvents(ApplicationEventPublisher publisher) {
		return new AuditEvents(publisher);
	}

}
