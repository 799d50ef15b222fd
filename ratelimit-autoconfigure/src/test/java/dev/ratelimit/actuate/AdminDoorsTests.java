package dev.ratelimit.actuate;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import dev.ratelimit.admin.AdminDoors;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The doors beside the actuator endpoint.
 */
class AdminDoorsTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitAdminAutoConfiguration.class,
					RateLimitDoorsAutoConfiguration.class, EndpointAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource({ "NONE, false, false", "READ_ONLY, true, false", "UNRESTRICTED, true, true" })
	void haveTheAccessOfTheEndpoint(String access, boolean reads, boolean writes) {
		this.context.withPropertyValues("management.endpoint.ratelimit.access=" + access)
			.run((context) -> assertThat(context.getBean(AdminDoors.class)).isEqualTo(new AdminDoors(reads, writes)));
	}

	@Test
	void areReadOnlyByDefault() {
		this.context.run((context) -> assertThat(context.getBean(AdminDoors.class)).isEqualTo(AdminDoors.READ_ONLY));
	}

}
