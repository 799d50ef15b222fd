package dev.ratelimit.events;

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.ProducerFactory;

import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.caller.CallerNames;
import dev.ratelimit.caller.Pseudonyms;
import dev.ratelimit.config.InvalidPolicyException;
import dev.ratelimit.config.PolicyMapper;
import dev.ratelimit.config.RateLimitProperties;
import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.metrics.RateLimitMetricsAutoConfiguration;

/**
 * Usage events, if they are enabled. They are a listener like the meters, and end after
 * everything that decides requests.
 */
@AutoConfiguration(after = { RateLimitAutoConfiguration.class, RateLimitMetricsAutoConfiguration.class },
		afterName = { "org.springframework.boot.autoconfigure.kafka.KafkaAutoConfiguration",
				"org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration" })
@ConditionalOnClass(ProducerFactory.class)
@ConditionalOnBean(Policies.class)
@ConditionalOnProperty("ratelimit.events.enabled")
public final class RateLimitEventsAutoConfiguration {

	/**
	 * Sends events to the broker of the application's own producers.
	 */
	@Bean(destroyMethod = "close")
	UsageEvents rateLimitUsageEvents(RateLimitProperties properties, ObjectProvider<ProducerFactory<?, ?>> factory,
			Pseudonyms pseudonyms, Fleet fleet) {
		ProducerFactory<?, ?> producers = factory.getIfUnique();
		if (producers == null) {
			throw new InvalidPolicyException(
					"'ratelimit.events.enabled' is true, but there is no single ProducerFactory bean.",
					"Set 'spring.kafka.bootstrap-servers', or declare one "
							+ "org.springframework.kafka.core.ProducerFactory as primary.");
		}
		EventOptions options = PolicyMapper
			.checked("Set 'ratelimit.events.topic' to 1 to 249 letters, digits, dots, dashes and underscores, "
					+ "'ratelimit.events.buffer-size' to at least 1 and 'ratelimit.events.flush-timeout' to 0s or more.",
					properties.events()::valid);
		CallerNames names = new CallerNames(pseudonyms, properties.identity().ipv6Prefix());
		return new UsageEvents(new KafkaOutlet(producers::getConfigurationProperties, options.topic()),
				new EventFormat(names, properties.region(), fleet.instance()), options);
	}

	/**
	 * Where there is a registry.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class Metered {

		@Bean
		EventMeters rateLimitEventMeters(MeterRegistry registry, UsageEvents events) {
			return new EventMeters(registry, events);
		}

	}

}
