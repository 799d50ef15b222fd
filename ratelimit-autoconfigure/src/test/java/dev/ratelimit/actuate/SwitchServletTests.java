package dev.ratelimit.actuate;

import java.security.Principal;
import java.util.List;

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
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.http.MediaType;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.ResultActions;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

import dev.ratelimit.FailureMode;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.fleet.ModeSwitch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.asyncDispatch;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * The switch through the endpoint, on the servlet stack.
 */
class SwitchServletTests {

	private static final String SWITCH = "/actuator/ratelimit/switch";

	static final Principal VIEWER = user("vic", "ROLE_RATELIMIT_VIEWER");

	private static final Principal ADMIN = user("ann", "ROLE_RATELIMIT_ADMIN");

	private final WebApplicationContextRunner context = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
				JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
				WebMvcAutoConfiguration.class, EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				ServletManagementContextAutoConfiguration.class, ManagementContextAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitAdminAutoConfiguration.class,
				RateLimitEndpointAutoConfiguration.class))
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED");

	@Test
	void adminTurnsItOnLooksAndTurnsItOff() {
		this.context.run((context) -> {
			call(context, post(SWITCH).content("{\"mode\": \"local\", \"for\": \"5m\"}"), ADMIN)
				.andExpect(status().isOk());
			assertThat(context.getBean(ModeSwitch.class).mode()).isEqualTo(FailureMode.LOCAL);
			call(context, get(SWITCH), VIEWER).andExpect(jsonPath("$.mode").value("local"))
				.andExpect(jsonPath("$.actor").value("ann"));
			call(context, delete(SWITCH), ADMIN).andExpect(status().isOk()).andExpect(jsonPath("$.on").value(false));
			assertThat(context.getBean(ModeSwitch.class).mode()).isNull();
		});
	}

	@Test
	void whoLacksTheRoleMayNotTurnIt() {
		this.context.run((context) -> {
			for (Principal principal : List.of(user("bob", "ROLE_OTHER"), (Principal) () -> "container")) {
				call(context, post(SWITCH).content("{\"mode\": \"allow\"}"), principal)
					.andExpect(status().isForbidden())
					.andExpect(content().contentType(MediaType.APPLICATION_PROBLEM_JSON));
			}
			call(context, delete(SWITCH), null).andExpect(status().isForbidden());
			assertThat(context.getBean(ModeSwitch.class).mode()).isNull();
		});
	}

	@Test
	void bodyThatIsNoObjectIsAProblem() {
		this.context.run((context) -> {
			for (String body : List.of("", "{", "[]")) {
				call(context, post(SWITCH).content(body), ADMIN).andExpect(status().isBadRequest())
					.andExpect(content().contentType(MediaType.APPLICATION_PROBLEM_JSON))
					.andExpect(jsonPath("$.fix").isNotEmpty());
			}
		});
	}

	@Test
	void accessThatIsReadOnlyLeavesWritesOut() {
		this.context.withPropertyValues("management.endpoint.ratelimit.access=READ_ONLY").run((context) -> {
			call(context, get(SWITCH), VIEWER).andExpect(status().isOk());
			call(context, post(SWITCH).content("{\"mode\": \"allow\"}"), ADMIN)
				.andExpect(status().isMethodNotAllowed());
		});
	}

	@Test
	void withoutSpringSecurityWhoReachesItMayTurnIt() {
		this.context.withClassLoader(new FilteredClassLoader("org.springframework.security")).run((context) -> {
			call(context, post(SWITCH).content("{\"mode\": \"allow\"}"), null).andExpect(status().isOk());
			assertThat(context.getBean(ModeSwitch.class).mode()).isEqualTo(FailureMode.ALLOW);
		});
	}

	static ResultActions call(AssertableWebApplicationContext context, MockHttpServletRequestBuilder request,
			Principal principal) throws Exception {
		return call(context, request.contentType(MediaType.APPLICATION_JSON), principal, null);
	}

	/** As the request says, in the right type or another. */
	static ResultActions call(AssertableWebApplicationContext context, MockHttpServletRequestBuilder request,
			Principal principal, MediaType type) throws Exception {
		assertThat(context).hasNotFailed();
		MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
		if (type != null) {
			request.contentType(type);
		}
		if (principal != null) {
			request.principal(principal);
		}
		ResultActions actions = mvc.perform(request);
		MvcResult result = actions.andReturn();
		return result.getRequest().isAsyncStarted() ? mvc.perform(asyncDispatch(result)) : actions;
	}

	static Principal user(String name, String authority) {
		return UsernamePasswordAuthenticationToken.authenticated(name, null,
				AuthorityUtils.createAuthorityList(authority));
	}

}
