package dev.ratelimit.actuate;

import java.security.Principal;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

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
import dev.ratelimit.hot.HotCounters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.delete;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * What operators see while a limit by hashed values has two counters for each caller.
 */
class EpochTurnServletTests {

	private static final Duration ROTATE = Duration.ofDays(90);

	private static final long TURN = 300 * ROTATE.toMillis();

	private static final String USAGE = "/actuator/ratelimit/usage?policy=login&ip=198.51.100.7";

	private static final String HOT_KEYS = "/actuator/ratelimit/hotkeys";

	private static final Principal ADMIN = SwitchServletTests.user("ann", "ROLE_RATELIMIT_ADMIN");

	private static final Request CALLER = Request.of("login").with(Dimension.IP, "198.51.100.7");

	private final AtomicLong millis = new AtomicLong(TURN - 1);

	private final WebApplicationContextRunner context = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
				JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
				WebMvcAutoConfiguration.class, EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				ServletManagementContextAutoConfiguration.class, ManagementContextAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitAdminAutoConfiguration.class,
				RateLimitEndpointAutoConfiguration.class))
		.withBean(Epochs.class, () -> new Epochs(Salt.random(), ROTATE, this.millis::get))
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED", "ratelimit.policies.login.limits.per-ip.by=ip",
				"ratelimit.policies.login.limits.per-ip.quota=10/d");

	@Test
	void usageIsToldOnceAndResetForBoth() {
		this.context.run((context) -> {
			check(context, 6);
			this.millis.set(TURN);
			check(context, 1);
			SwitchServletTests.call(context, get(USAGE), SwitchServletTests.VIEWER)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.limits.length()").value(1))
				.andExpect(jsonPath("$.limits[0].quotas.length()").value(1))
				.andExpect(jsonPath("$.limits[0].quotas[0].used").value(7));
			SwitchServletTests.call(context, delete(USAGE), ADMIN)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.reset.length()").value(1))
				.andExpect(jsonPath("$.reset[0]").value("per-ip"));
			assertThat(check(context, 0).remaining()).isEqualTo(10);
		});
	}

	@Test
	void markIsForBothAndSoIsTakingItAway() {
		this.context.run((context) -> {
			this.millis.set(TURN);
			HotCounters hot = context.getBean(HotCounters.class);
			SwitchServletTests
				.call(context,
						post(HOT_KEYS)
							.content("{\"policy\": \"login\", \"limit\": \"per-ip\", \"ip\": \"198.51.100.7\"}"),
						ADMIN)
				.andExpect(status().isOk());
			await().until(() -> hot.top().stream().filter((counter) -> counter.mark() != null).count() == 2);
			SwitchServletTests.call(context, delete(HOT_KEYS + "?policy=login&limit=per-ip&ip=198.51.100.7"), ADMIN)
				.andExpect(status().isOk());
			await().until(() -> hot.top().isEmpty());
		});
	}

	private static Decision check(ApplicationContext context, long cost) {
		return context.getBean(RateLimiter.class).check(CALLER.withCost(cost)).toCompletableFuture().join();
	}

}
