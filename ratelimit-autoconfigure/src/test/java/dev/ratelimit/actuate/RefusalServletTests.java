package dev.ratelimit.actuate;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.aop.RateLimitedAutoConfiguration;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitRefusalsAutoConfiguration;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * Why a caller was refused, on the servlet stack and with counters in memory.
 */
class RefusalServletTests {

	private static final String REFUSALS = "/actuator/ratelimit/refusals";

	private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

	private final WebApplicationContextRunner context = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
				JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
				WebMvcAutoConfiguration.class, EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				ServletManagementContextAutoConfiguration.class, ManagementContextAutoConfiguration.class,
				RateLimitAutoConfiguration.class, RateLimitedAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class))
		.withBean(Orders.class)
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"ratelimit.policies.orders.limits.per-ip.by=ip", "ratelimit.policies.orders.limits.per-ip.quota=1/h",
				"ratelimit.policies.tenants.limits.per-tenant.by=tenant",
				"ratelimit.policies.tenants.limits.per-tenant.quota=1/h");

	private final WebApplicationContextRunner recording = this.context
		.withConfiguration(AutoConfigurations.of(RateLimitRefusalsAutoConfiguration.class));

	@Test
	void refusedCallIsExplained() {
		this.recording.run((context) -> {
			assertThat(context).hasNotFailed();
			for (int status : new int[] { 200, 429 }) {
				SwitchServletTests
					.call(context, get("/orders/17").header("traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01"),
							null)
					.andExpect(status().is(status));
			}
			await().atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> SwitchServletTests
					.call(context, get(REFUSALS + "?ip=127.0.0.1&at=" + Instant.now()), SwitchServletTests.VIEWER)
					.andExpect(status().isOk())
					.andExpect(jsonPath("$.source").value("instance"))
					.andExpect(jsonPath("$.missing").value(0))
					.andExpect(jsonPath("$.entries.length()").value(1))
					.andExpect(jsonPath("$.entries[0].limit").value("per-ip"))
					.andExpect(jsonPath("$.entries[0].source").value("memory"))
					.andExpect(jsonPath("$.entries[0].used").value(1))
					.andExpect(jsonPath("$.entries[0].traceId").value(TRACE))
					.andExpect(jsonPath("$.entries[0].caller.route").value("/orders/{id}"))
					.andExpect(jsonPath("$.entries[0].caller.ip").isNotEmpty()));
			SwitchServletTests.call(context, get(REFUSALS + "?ip=127.0.0.2"), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.entries.length()").value(0));
		});
	}

	@Test
	void historyIsPaged() {
		this.recording.run((context) -> {
			for (int i = 0; i < 3; i++) {
				refuse(context, "t" + i);
			}
			await().atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> SwitchServletTests
					.call(context, get(REFUSALS + "?policy=tenants&limit=2"), SwitchServletTests.VIEWER)
					.andExpect(jsonPath("$.entries.length()").value(2))
					.andExpect(jsonPath("$.before").value("2-0")));
			SwitchServletTests
				.call(context, get(REFUSALS + "?policy=tenants&limit=2&before=2-0"), SwitchServletTests.VIEWER)
				.andExpect(jsonPath("$.entries.length()").value(1))
				.andExpect(jsonPath("$.before").doesNotExist());
		});
	}

	@Test
	void policyThatIsNotKnownAnyMoreMayBeAskedFor() {
		this.recording.run((context) -> {
			refuse(context, "acme");
			context.getBean(Policies.class).replace(PolicySet.of());
			await().atMost(Duration.ofSeconds(30))
				.untilAsserted(() -> SwitchServletTests
					.call(context, get(REFUSALS + "?policy=tenants"), SwitchServletTests.VIEWER)
					.andExpect(status().isOk())
					.andExpect(jsonPath("$.entries.length()").value(1)));
			SwitchServletTests.call(context, get(REFUSALS + "?policy=nosuch"), SwitchServletTests.VIEWER)
				.andExpect(status().isOk())
				.andExpect(jsonPath("$.entries.length()").value(0));
		});
	}

	@ParameterizedTest
	@CsvSource({ "at=03:47, at", "within=soon, within", "within=30, within", "before=x, before", "limit=0, limit",
			"limit=1001, limit", "tenantt=secret1, tenantt", "tenant=, tenant", "policy=No:such, policy",
			"ip=1.2.3, ip" })
	void queryThatCannotBeMeantIsAProblem(String query, String field) {
		this.recording
			.run((context) -> SwitchServletTests.call(context, get(REFUSALS + '?' + query), SwitchServletTests.VIEWER)
				.andExpect(status().isBadRequest())
				.andExpect(jsonPath("$.field").value(field))
				.andExpect(jsonPath("$.fix").isNotEmpty()));
	}

	@Test
	void withoutAHistoryThereIsAProblem() {
		this.context.run((context) -> SwitchServletTests.call(context, get(REFUSALS), SwitchServletTests.VIEWER)
			.andExpect(status().isServiceUnavailable()));
	}

	@Test
	void optionsThatMakeNoSenseStopTheStart() {
		this.recording.withPropertyValues("ratelimit.refusals.retention=1s")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("Retention must be 1m to 365d"));
	}

	private static void refuse(ApplicationContext context, String tenant) {
		Request request = Request.of("tenants").with(Dimension.TENANT, tenant);
		RateLimiter limiter = context.getBean(RateLimiter.class);
		limiter.check(request).toCompletableFuture().join();
		assertThat(limiter.check(request).toCompletableFuture().join().allowed()).isFalse();
	}

	/**
	 * What is limited.
	 */
	@RestController
	static class Orders {

		@GetMapping("/orders/{id}")
		@RateLimited("orders")
		String order(@PathVariable String id) {
			return id;
		}

	}

}
