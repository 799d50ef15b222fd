package dev.ratelimit.actuate;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Base64;

import jakarta.servlet.Filter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.servlet.ServletManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * What callers have used, the audit trail and bodies that cannot be read, on the servlet
 * stack.
 */
class UsageServletTests {

	private static final String USAGE = "/actuator/ratelimit/usage?policy=orders&tenant=acme";

	private static final String AUDIT = "/actuator/ratelimit/audit";

	private static final String SWITCH = "/actuator/ratelimit/switch";

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
				"ratelimit.policies.orders.limits.per-tenant.quota=50/h");

	private final CapturedLog log = new CapturedLog("dev.ratelimit.audit");

	@AfterEach
	void end() {
		this.log.close();
	}

	@Test
	void usageIsToldAndReset() {
		this.context.run((context) -> {
			context.getBean(RateLimiter.class)
				.check(Request.of("orders").with(Dimension.TENANT, "acme").withCost(4))
				.toCompletableFuture()
				.join();
			SwitchServletTests.call(context, get(USAGE), SwitchServletTests.VIEWER)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.limits[0].quotas[0].used").value(4));
			SwitchServletTests.call(context, delete(USAGE), SwitchServletTests.user("bob", "ROLE_OTHER"))
				.andExpect(status().isForbidden());
			SwitchServletTests.call(context, delete(USAGE), ADMIN).andExpect(status().isOk());
			SwitchServletTests.call(context, get(USAGE), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.limits[0].quotas[0].used").value(0));
			SwitchServletTests.call(context, get(AUDIT), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.source").value("instance"))
				.andExpect(jsonPath("$.entries[0].outcome").value("done"))
				.andExpect(jsonPath("$.entries[1].outcome").value("refused"));
		});
	}

	@Test
	void bodyThatIsTooLargeIsAProblem() {
		this.context.run((context) -> {
			String body = "{\"mode\": \"allow\", \"reason\": \"" + "x".repeat(256 * 1024) + "\"}";
			SwitchServletTests.call(context, post(SWITCH).content(body), ADMIN)
				.andExpect(status().is(413))
				.andExpect(content().contentType(MediaType.APPLICATION_PROBLEM_JSON));
			SwitchServletTests.call(context, get(SWITCH), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.on").value(false));
		});
	}

	@Test
	void bodyOfAnotherTypeIsAProblem() {
		this.context.run((context) -> SwitchServletTests
			.call(context, post(SWITCH).content("{\"mode\": \"allow\"}"), ADMIN, MediaType.TEXT_PLAIN)
			.andExpect(status().isUnsupportedMediaType())
			.andExpect(jsonPath("$.fix").value("Send it with Content-Type: application/json.")));
	}

	@Test
	void whatTheApplicationsSecurityTurnsAwayIsInTheTrailUnlessNobodyIsLoggedIn() {
		this.context.withConfiguration(AutoConfigurations.of(SecurityAutoConfiguration.class))
			.withUserConfiguration(Secured.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				MockMvc mvc = MockMvcBuilders.webAppContextSetup(context)
					.addFilters(context.getBean("springSecurityFilterChain", Filter.class))
					.build();
				mvc.perform(post(SWITCH)).andExpect(status().isUnauthorized());
				assertThat(this.log.lines()).isEmpty();
				mvc.perform(post(SWITCH).header("Authorization",
						"Basic " + Base64.getEncoder().encodeToString("bob:secret".getBytes(StandardCharsets.UTF_8))))
					.andExpect(status().isForbidden());
				assertThat(this.log.lines()).singleElement()
					.asString()
					.contains("action=denied-by-security outcome=refused actor=\"bob\" target=\"POST switch\"");
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class Secured {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) throws Exception {
			return http.csrf(AbstractHttpConfigurer::disable)
				.httpBasic(Customizer.withDefaults())
				.authorizeHttpRequests((requests) -> requests.anyRequest().hasRole("RATELIMIT_ADMIN"))
				.build();
		}

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("bob").password("{noop}secret").roles("OTHER").build());
		}

	}

}
