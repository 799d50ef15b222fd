package dev.ratelimit.web.reactive;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;
import reactor.netty.http.server.HttpServer;

/**
 * Works around a fault of Reactor Netty that refusals run into, on the application's port
 * and on the management port, whose context finds the bean in its parent.
 */
@AutoConfiguration
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
@ConditionalOnWebApplication(type = Type.REACTIVE)
@ConditionalOnClass(HttpServer.class)
@Conditional(RateLimitReactorNettyAutoConfiguration.OnFaultyVersion.class)
public final class RateLimitReactorNettyAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	QueuedRequests rateLimitQueuedRequests() {
		return new QueuedRequests();
	}

	static class OnFaultyVersion extends SpringBootCondition {

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			String version = HttpServer.class.getPackage().getImplementationVersion();
			return new ConditionOutcome(QueuedRequests.neededBy(version),
					ConditionMessage.of("Reactor Netty is " + version));
		}

	}

}
