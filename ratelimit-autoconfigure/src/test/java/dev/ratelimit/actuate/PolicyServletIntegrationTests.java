package dev.ratelimit.actuate;

import java.security.Principal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitControlAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitFleetAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRedisAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitStoreAutoConfiguration;
import dev.ratelimit.control.ControlPlane;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.put;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * Policies and records through the endpoint, on the servlet stack.
 */
@ExtendWith(RedisServers.class)
class PolicyServletIntegrationTests {

	private static final String ENDPOINT = "/actuator/ratelimit/";

	private static final Principal ADMIN = SwitchServletTests.user("ann", "ROLE_RATELIMIT_ADMIN");

	private final WebApplicationContextRunner context = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
				JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
				WebMvcAutoConfiguration.class, EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				ServletManagementContextAutoConfiguration.class, ManagementContextAutoConfiguration.class,
				RedisAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
				RateLimitFleetAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitStoreAutoConfiguration.class, RateLimitControlAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class))
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED",
				"ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=100/s",
				"ratelimit.policies.orders.tiers.pro.limits.per-tenant=500/s");

	@Test
	void adminWritesAPolicyAndARecordAndTakesThemBack(RedisServer redis) {
		on(redis).run((context) -> {
			ControlPlane plane = context.getBean(ControlPlane.class);
			SwitchServletTests.call(context, post(ENDPOINT + "policies/orders").content(
					"{\"policy\": {\"limits\": {\"per-ip\": {\"by\": \"ip\", \"quota\": \"5/s\"}}}, \"expect\": 0}"),
					ADMIN)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.version").value(1));
			SwitchServletTests
				.call(context, put(ENDPOINT + "lists/allow").content("{\"entry\": {\"tenant\": \"acme\"}}"), ADMIN)
				.andExpect(status().isOk());
			Within.seconds(3).until(() -> plane.state().revision() == 2);
			SwitchServletTests.call(context, get(ENDPOINT + "policies/orders"), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.policy.limits.per-ip.quota[0]").value("5/s"))
				.andExpect(jsonPath("$.history[0].actor").value("ann"));
			SwitchServletTests.call(context, get(ENDPOINT + "lists/allow"), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.entries[0].entry.tenant").value("acme"));
			SwitchServletTests.call(context, delete(ENDPOINT + "lists/allow?tenant=acme"), ADMIN)
				.andExpect(status().isOk());
			SwitchServletTests.call(context, delete(ENDPOINT + "policies/orders"), ADMIN).andExpect(status().isOk());
		});
	}

	@Test
	void slipsConflictsAndBodiesThatAreTooLargeAreAnswered(RedisServer redis) {
		on(redis).run((context) -> {
			SwitchServletTests
				.call(context, post(ENDPOINT + "policies/orders").content("{\"policy\": {\"limits\": {}}}"), ADMIN)
				.andExpect(status().isBadRequest())
				.andExpect(jsonPath("$.field").value("policy.limits"));
			SwitchServletTests.call(context, post(ENDPOINT + "policies/orders").content(
					"{\"policy\": {\"limits\": {\"per-ip\": {\"by\": \"ip\", \"quota\": \"5/s\"}}}, \"expect\": 3}"),
					ADMIN)
				.andExpect(status().isConflict())
				.andExpect(jsonPath("$.newest").value(0));
			SwitchServletTests.call(context,
					post(ENDPOINT + "policies/orders").content("{\"policy\": \"" + "x".repeat(300_000) + "\"}"), ADMIN)
				.andExpect(status().is(413));
			SwitchServletTests.call(context, get(ENDPOINT + "tiers/tenant/acme"), SwitchServletTests.VIEWER)
				.andExpect(status().isNotFound());
			SwitchServletTests
				.call(context, put(ENDPOINT + "tiers/tenant/acme").content("{\"tier\": \"pro\"}"),
						SwitchServletTests.user("bob", "ROLE_OTHER"))
				.andExpect(status().isForbidden());
		});
	}

	private WebApplicationContextRunner on(RedisServer redis) {
		return this.context.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

}
