package dev.ratelimit.actuate;

import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.reactive.ReactiveManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;

import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitFleetAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;

/** A reactive application with the limiter on Redis, its store and its endpoint. */
final class ReactiveEndpoint {

	private ReactiveEndpoint() {
	}

	/**
	 * An endpoint that can be written to.
	 * @param further auto-configurations that the test needs besides
	 */
	static ReactiveWebApplicationContextRunner runner(Class<?>... further) {
		return new ReactiveWebApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(HttpHandlerAutoConfiguration.class, JacksonAutoConfiguration.class,
					CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, EndpointAutoConfiguration.class,
					WebEndpointAutoConfiguration.class, ReactiveManagementContextAutoConfiguration.class,
					ManagementContextAutoConfiguration.class, RedisAutoConfiguration.class,
					RateLimitRedisAutoConfiguration.class, RateLimitFleetAutoConfiguration.class,
					RateLimitAutoConfiguration.class, RateLimitStoreAutoConfiguration.class,
					RateLimitControlAutoConfiguration.class, RateLimitAdminAutoConfiguration.class,
					RateLimitEndpointAutoConfiguration.class))
			.withConfiguration(AutoConfigurations.of(further))
			.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
					"management.endpoint.ratelimit.access=UNRESTRICTED");
	}

}
