package dev.ratelimit.web.tracing;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.test.simple.SimpleTracer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.web.CallTrace;

import static org.assertj.core.api.Assertions.assertThat;

class RateLimitTracingAutoConfigurationTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitTracingAutoConfiguration.class))
		.withBean(ObservationRegistry.class, RateLimitTracingAutoConfigurationTests::observed);

	@Test
	void callsThatAreTracedAreTold() {
		this.context.withBean(SimpleTracer.class)
			.run((context) -> assertThat(context.getBean(CallTrace.Source.class)).isInstanceOf(ObservedCalls.class));
	}

	@Test
	void withoutATracerNothingIsTold() {
		this.context
			.run((context) -> assertThat(context.getBean(CallTrace.Source.class)).isSameAs(CallTrace.Source.NONE));
	}

	@Test
	void tracerThatDoesNothingIsNone() {
		this.context.withBean(Tracer.class, () -> Tracer.NOOP)
			.run((context) -> assertThat(context.getBean(CallTrace.Source.class)).isSameAs(CallTrace.Source.NONE));
	}

	@Test
	void worksWithoutTheLibraryForTraces() {
		this.context.withClassLoader(new FilteredClassLoader("io.micrometer.tracing"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(RateLimiter.class)
				.doesNotHaveBean(CallTrace.Source.class));
	}

	@Test
	void backsOffForASourceOfTheUsersOwn() {
		CallTrace.Source own = (observation) -> CallTrace.NONE;
		this.context.withBean(SimpleTracer.class)
			.withBean("own", CallTrace.Source.class, () -> own)
			.run((context) -> assertThat(context.getBean(CallTrace.Source.class)).isSameAs(own));
	}

	private static ObservationRegistry observed() {
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig().observationHandler((ObservationHandler<Observation.Context>) (context) -> true);
		return registry;
	}

}
