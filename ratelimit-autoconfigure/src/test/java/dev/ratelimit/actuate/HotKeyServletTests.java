package dev.ratelimit.actuate;

import java.security.Principal;

import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.ResultActions;

import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.hot.HotCounters;

import static org.awaitility.Awaitility.await;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * Hot keys through the endpoint, on the servlet stack.
 */
class HotKeyServletTests {

	private static final String HOT_KEYS = "/actuator/ratelimit/hotkeys";

	private static final String ACME = "{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\"}";

	private static final Principal ADMIN = SwitchServletTests.user("ann", "ROLE_RATELIMIT_ADMIN");

	private final WebApplicationContextRunner context = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
				JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
				WebMvcAutoConfiguration.class, EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				ServletManagementContextAutoConfiguration.class, ManagementContextAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitAdminAutoConfiguration.class,
				RateLimitEndpointAutoConfiguration.class))
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED",
				"ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=100/s",
				"ratelimit.policies.tokens.limits.per-tenant.by=tenant",
				"ratelimit.policies.tokens.limits.per-tenant.quota=10000/s",
				"ratelimit.policies.tokens.cost.estimate=1000", "ratelimit.policies.bulk.limits.per-tenant.by=tenant",
				"ratelimit.policies.bulk.limits.per-tenant.quota=100/s", "ratelimit.policies.bulk.costs[/bulk]=60");

	@Test
	void adminMarksACounterLooksAndTakesTheMarkAway() {
		this.context.run((context) -> {
			HotCounters hot = context.getBean(HotCounters.class);
			SwitchServletTests.call(context, post(HOT_KEYS).content(ACME), ADMIN)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.marked").value(true));
			await().until(() -> !hot.top().isEmpty());
			SwitchServletTests.call(context, get(HOT_KEYS), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$[0].limit").value("per-tenant"))
				.andExpect(jsonPath("$[0].actor").value("ann"));
			SwitchServletTests.call(context, delete(HOT_KEYS + "?policy=orders&limit=per-tenant&tenant=acme"), ADMIN)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.marked").value(false));
			await().until(() -> hot.top().isEmpty());
		});
	}

	@Test
	void markInPartsLeavesRoomForTheEstimateAndTheCosts() {
		this.context.run((context) -> {
			mark(context, "tokens", 16).andExpect(status().isBadRequest())
				.andExpect(jsonPath("$.detail")
					.value("The policy charges up to 1000 permits for a request, but a part would have only 625"))
				.andExpect(
						jsonPath("$.fix").value("Use at most 10 parts, or lower the policy's cost.estimate or costs."));
			mark(context, "tokens", 10).andExpect(status().isOk()).andExpect(jsonPath("$.split").value(10));
			mark(context, "bulk", 2).andExpect(status().isBadRequest())
				.andExpect(jsonPath("$.detail")
					.value("The policy charges up to 60 permits for a request, but a part would have only 50"))
				.andExpect(jsonPath("$.fix").value("Leave 'split' out, or lower the policy's cost.estimate or costs."));
		});
	}

	private static ResultActions mark(AssertableWebApplicationContext context, String policy, int split)
			throws Exception {
		return SwitchServletTests.call(context,
				post(HOT_KEYS).content(ACME.replace("orders", policy).replace("}", ", \"split\": " + split + "}")),
				ADMIN);
	}

	@Test
	void whoLacksTheRoleMayNotMark() {
		this.context.run((context) -> {
			SwitchServletTests.call(context, post(HOT_KEYS).content(ACME), SwitchServletTests.user("bob", "ROLE_OTHER"))
				.andExpect(status().isForbidden())
				.andExpect(content().contentType(MediaType.APPLICATION_PROBLEM_JSON));
			SwitchServletTests.call(context, delete(HOT_KEYS + "?policy=orders"), null)
				.andExpect(status().isForbidden());
		});
	}

}
