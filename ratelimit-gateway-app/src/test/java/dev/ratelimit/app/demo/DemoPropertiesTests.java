package dev.ratelimit.app.demo;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties of the demo where nothing binds them.
 */
class DemoPropertiesTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class));

	@Test
	void propertyIsKnownWithoutItsBean() {
		this.context.withPropertyValues("ratelimit.demo.remote=true")
			.run((started) -> assertThat(started).hasNotFailed());
	}

	@Test
	void slipFailsTheStartWithTheNearestName() {
		this.context.withPropertyValues("ratelimit.demo.remot=true")
			.run((failed) -> assertThat(failed).getFailure().hasMessageContaining("'ratelimit.demo.remote'"));
	}

}
