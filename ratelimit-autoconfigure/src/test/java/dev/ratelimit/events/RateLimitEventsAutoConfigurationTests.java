package dev.ratelimit.events;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.kafka.KafkaAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.config.InvalidPolicyException;

import static org.assertj.core.api.Assertions.assertThat;

class RateLimitEventsAutoConfigurationTests {

	private static final String ENABLED = "ratelimit.events.enabled=true";

	private static final Request ANN = Request.of("orders").with(Dimension.USER, "ann");

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class,
				RateLimitEventsAutoConfiguration.class, KafkaAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.orders.limits.per-user.by=user",
				"ratelimit.policies.orders.limits.per-user.quota=2/m", "ratelimit.events.flush-timeout=0s");

	@Test
	void thereAreNoneUnlessAskedFor() {
		this.context.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(UsageEvents.class));
	}

	@Test
	void limiterTellsOfItsDecisions() {
		this.context.withPropertyValues(ENABLED, "spring.kafka.bootstrap-servers=127.0.0.1:1").run((context) -> {
			context.getBean(RateLimiter.class).check(ANN).toCompletableFuture().join();
			UsageEvents events = context.getBean(UsageEvents.class);
			events.close();
			assertThat(events.delivered() + events.dropped()).isEqualTo(1);
		});
	}

	@Test
	void worksWithoutKafka() {
		this.context.withClassLoader(new FilteredClassLoader("org.springframework.kafka", "org.apache.kafka"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(RateLimiter.class)
				.doesNotHaveBean(UsageEvents.class));
	}

	@Test
	void worksWithoutMicrometer() {
		this.context.withClassLoader(new FilteredClassLoader("io.micrometer"))
			.withPropertyValues(ENABLED)
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(UsageEvents.class));
	}

	@Test
	void askedForWithoutKafkaStopsTheStart() {
		this.context.withClassLoader(new FilteredClassLoader("org.springframework.kafka", "org.apache.kafka"))
			.withPropertyValues(ENABLED)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidPolicyException.class)
				.hasMessageContaining("Add org.springframework.kafka:spring-kafka"));
	}

	@Test
	void askedForWithoutAProducerFactoryStopsTheStart() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitEventsAutoConfiguration.class))
			.withPropertyValues(ENABLED)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("there is no single ProducerFactory bean"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.events.topic=usage events", "ratelimit.events.topic=..",
			"ratelimit.events.buffer-size=0", "ratelimit.events.flush-timeout=-1s" })
	void whatCannotBeMeantStopsTheStart(String property) {
		this.context.withPropertyValues(ENABLED, property)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(InvalidPolicyException.class)
				.hasMessageContaining("Set 'ratelimit.events.topic' to 1 to 249 letters"));
	}

	@Test
	void brokerWhoseNameIsNotKnownYetDoesNotStopTheStart() {
		this.context.withPropertyValues(ENABLED, "spring.kafka.bootstrap-servers=kafka.invalid:9092")
			.run((context) -> assertThat(
					context.getBean(RateLimiter.class).check(ANN).toCompletableFuture().join().allowed())
				.isTrue());
	}

	@Test
	void disabledLimiterHasNoEvents() {
		this.context.withPropertyValues(ENABLED, "ratelimit.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(UsageEvents.class));
	}

}
