package dev.ratelimit.actuate;

import java.security.Principal;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import com.jayway.jsonpath.JsonPath;
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
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.caller.Epochs;
import dev.ratelimit.caller.Salt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * Bans through the endpoint, on the servlet stack.
 */
class BanServletTests {

	private static final String BANS = "/actuator/ratelimit/bans";

	private static final String IP = "198.51.100.7";

	private static final Principal ADMIN = SwitchServletTests.user("ann", "ROLE_RATELIMIT_ADMIN");

	private static final Request CALLER = Request.of("login").with(Dimension.IP, IP);

	private final AtomicLong millis = new AtomicLong(Duration.ofDays(9_000).toMillis() - 1);

	private final WebApplicationContextRunner context = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
				JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
				WebMvcAutoConfiguration.class, EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				ServletManagementContextAutoConfiguration.class, ManagementContextAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitAdminAutoConfiguration.class,
				RateLimitEndpointAutoConfiguration.class))
		.withBean(Epochs.class, () -> new Epochs(Salt.random(), Duration.ofDays(90), this.millis::get))
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED", "ratelimit.policies.login.limits.per-ip.by=ip",
				"ratelimit.policies.login.limits.per-ip.quota=1/d", "ratelimit.policies.login.penalty.after=1",
				"ratelimit.policies.login.penalty.ban-after=2", "ratelimit.policies.other.limits.all.by=",
				"ratelimit.policies.other.limits.all.quota=5/s");

	@Test
	void banIsShownByItsPseudonymAndLiftedByIt() {
		this.context.run((context) -> {
			ban(context);
			String shown = SwitchServletTests.call(context, get(BANS), SwitchServletTests.VIEWER)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.length()").value(1))
				.andExpect(jsonPath("$[0].policy").value("login"))
				.andExpect(jsonPath("$[0].limit").value("per-ip"))
				.andExpect(jsonPath("$[0].until").exists())
				.andReturn()
				.getResponse()
				.getContentAsString();
			assertThat(shown).doesNotContain(IP);
			String pseudonym = JsonPath.read(shown, "$[0].pseudonym");
			SwitchServletTests.call(context, delete(BANS + "?policy=login&reason=INC-1&pseudonym=" + pseudonym), ADMIN)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.lifted[0]").value("per-ip"));
			assertThat(check(context).reason()).isEqualTo(Decision.Reason.LIMITS);
			SwitchServletTests.call(context, get(BANS), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.length()").value(0));
			String audit = SwitchServletTests.call(context, get("/actuator/ratelimit/audit"), ADMIN)
				.andExpect(jsonPath("$.entries[0].action").value("ban-lift"))
				.andExpect(jsonPath("$.entries[0].actor").value("ann"))
				.andExpect(jsonPath("$.entries[0].target").value("login by pseudonym"))
				.andReturn()
				.getResponse()
				.getContentAsString();
			assertThat(audit).contains("INC-1").doesNotContain(IP);
		});
	}

	@Test
	void banOfThePreviousEpochIsLiftedByTheDimensions() {
		this.context.run((context) -> {
			ban(context);
			this.millis.addAndGet(Duration.ofMinutes(30).toMillis());
			assertThat(check(context).reason()).isEqualTo(Decision.Reason.BAN);
			SwitchServletTests.call(context, delete(BANS + "?policy=login&ip=" + IP), ADMIN)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.lifted[0]").value("per-ip"));
			assertThat(check(context).reason()).isEqualTo(Decision.Reason.LIMITS);
		});
	}

	@Test
	void banWhileAnEpochTurnsIsShownOnceAndItsPseudonymLiftsBothEpochs() {
		this.context.run((context) -> {
			this.millis.addAndGet(Duration.ofMinutes(30).toMillis());
			ban(context);
			String shown = SwitchServletTests.call(context, get(BANS), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.length()").value(1))
				.andReturn()
				.getResponse()
				.getContentAsString();
			String pseudonym = JsonPath.read(shown, "$[0].pseudonym");
			SwitchServletTests.call(context, delete(BANS + "?policy=login&pseudonym=" + pseudonym), ADMIN)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.lifted.length()").value(1));
			assertThat(check(context).reason()).isEqualTo(Decision.Reason.LIMITS);
			String audit = SwitchServletTests.call(context, get("/actuator/ratelimit/audit"), ADMIN)
				.andReturn()
				.getResponse()
				.getContentAsString();
			String before = JsonPath.read(audit, "$.entries[0].before");
			assertThat(before.split(", ")).hasSize(2);
		});
	}

	@Test
	void listIsForOnePolicyIfItIsNamed() {
		this.context.run((context) -> {
			ban(context);
			SwitchServletTests.call(context, get(BANS + "?policy=login"), ADMIN)
				.andExpect(jsonPath("$.length()").value(1));
			SwitchServletTests.call(context, get(BANS + "?policy=other"), ADMIN)
				.andExpect(jsonPath("$.length()").value(0));
		});
	}

	@Test
	void whatNamesNoBanIsRefusedAndSaysWhatToDo() {
		this.context.run((context) -> {
			SwitchServletTests.call(context, delete(BANS + "?policy=login&pseudonym=none"), ADMIN)
				.andExpect(status().isNotFound());
			SwitchServletTests.call(context, delete(BANS + "?policy=other"), ADMIN).andExpect(status().isBadRequest());
			SwitchServletTests.call(context, delete(BANS + "?ip=" + IP), ADMIN).andExpect(status().isBadRequest());
			SwitchServletTests.call(context, delete(BANS + "?policy=login&colour=red&ip=" + IP), ADMIN)
				.andExpect(status().isBadRequest());
		});
	}

	@Test
	void whoLacksTheRoleMayNeitherReadNorLift() {
		this.context.run((context) -> {
			ban(context);
			Principal bob = SwitchServletTests.user("bob", "ROLE_OTHER");
			SwitchServletTests.call(context, get(BANS), bob).andExpect(status().isForbidden());
			SwitchServletTests.call(context, delete(BANS + "?policy=login&ip=" + IP), bob)
				.andExpect(status().isForbidden());
			SwitchServletTests.call(context, delete(BANS + "?policy=login&ip=" + IP), SwitchServletTests.VIEWER)
				.andExpect(status().isForbidden());
			assertThat(check(context).reason()).isEqualTo(Decision.Reason.BAN);
		});
	}

	/** Each try is an offence from 250 ms after the first refusal on. */
	private static void ban(ApplicationContext context) {
		await().atMost(Duration.ofSeconds(60)).until(() -> check(context).reason() == Decision.Reason.BAN);
	}

	private static Decision check(ApplicationContext context) {
		return context.getBean(RateLimiter.class).check(CALLER).toCompletableFuture().join();
	}

}
