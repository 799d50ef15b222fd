package dev.ratelimit.admin;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;

import dev.ratelimit.actuate.RateLimitEndpointAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

class RateLimitAdminAutoConfigurationTests {

	private final ReactiveWebApplicationContextRunner twoChecks = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class, EndpointAutoConfiguration.class,
				WebEndpointAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class))
		.withBean("one", AdminCheck.class, () -> (principal) -> true)
		.withBean("other", AdminCheck.class, () -> (principal) -> false);

	@Test
	void twoChecksDoNotStopAnApplicationThatDoesNotExposeTheEndpoint() {
		this.twoChecks.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void twoChecksStopAnApplicationThatExposesTheEndpoint() {
		this.twoChecks.withPropertyValues("management.endpoints.web.exposure.include=ratelimit")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(NoUniqueBeanDefinitionException.class));
	}

}
