package dev.ratelimit.autoconfigure;

import java.util.Map;
import java.util.function.Supplier;

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.ProducerFactory;

import dev.ratelimit.counter.Pseudonyms;
import dev.ratelimit.events.EventOptions;
import dev.ratelimit.events.UsageEvents;
import dev.ratelimit.limiter.Fleet;
import dev.ratelimit.metrics.EventMeters;

/**
 * Usage events, where they are asked for. They are a listener like the meters, and end
 * after all that decides has ended.
 */
@AutoConfiguration(after = { RateLimitAutoConfiguration.class, RateLimitMetricsAutoConfiguration.class },
		afterName = { "org.springframework.boot.autoconfigure.kafka.KafkaAutoConfiguration",
				"org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration" })
@ConditionalOnBean(Policies.class)
@ConditionalOnProperty("ratelimit.events.enabled")
public class RateLimitEventsAutoConfiguration {

	/**
	 * To the broker of the application's own producers.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ProducerFactory.class)
	static class ToKafka {

		@Bean(destroyMethod = "close")
		@ConditionalOnMissingBean
		UsageEvents rateLimitUsageEvents(RateLimitProperties properties, ObjectProvider<ProducerFactory<?, ?>> factory,
				Pseudonyms pseudonyms, Fleet fleet) {
			ProducerFactory<?, ?> producers = factory.getIfUnique();
			if (producers == null) {
				throw new InvalidPolicyException(
						"'ratelimit.events.enabled' is true, but there is no single ProducerFactory bean.",
						"Set 'spring.kafka.bootstrap-servers', or declare one "
								+ "org.springframework.kafka.core.ProducerFactory as primary.");
			}
			Supplier<Map<String, Object>> settings = producers::getConfigurationProperties;
			return UsageEvents.toKafka(settings, options(properties.events()), pseudonyms, properties.region(),
					fleet.instance());
		}

		private static EventOptions options(RateLimitProperties.Events events) {
			return PolicyMapper.checked(
					"Correct 'ratelimit.events.topic', 'ratelimit.events.buffer-size' or "
							+ "'ratelimit.events.flush-timeout'.",
					() -> new EventOptions(events.topic(), events.bufferSize(), events.flushTimeout()));
		}

		/**
		 * Where there is a registry.
		 */
		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(MeterRegistry.class)
		@ConditionalOnSingleCandidate(MeterRegistry.class)
		static class Metered {

			@Bean
			@ConditionalOnMissingBean
			EventMeters rateLimitEventMeters(MeterRegistry registry, UsageEvents events) {
				return new EventMeters(registry, events);
			}

		}

	}

	/**
	 * Events that were asked for and cannot be sent are an error, not a feature less.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("org.springframework.kafka.core.ProducerFactory")
	static class WithoutKafka {

		@Bean
		UsageEvents rateLimitUsageEvents() {
			throw new InvalidPolicyException(
					"'ratelimit.events.enabled' is true, but spring-kafka is not on the classpath.",
					"Add org.springframework.kafka:spring-kafka, or set 'ratelimit.events.enabled' to false.");
		}

	}

}
