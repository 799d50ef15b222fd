package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.Decision;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.aop.RateLimited;
import dev.ratelimit.aop.RateLimitedAutoConfiguration;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitUrlsAutoConfiguration;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.containsString;

/**
 * Deleting a policy that something names, through the endpoint.
 */
@ExtendWith({ RedisServers.class, OutputCaptureExtension.class })
class PolicyInUseIntegrationTests {

	private static final String POLICY = "/actuator/ratelimit/policies/extra";

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final ReactiveWebApplicationContextRunner context = ReactiveEndpoint
		.runner(RateLimitedAutoConfiguration.class, ReactiveSecurityAutoConfiguration.class)
		.withUserConfiguration(SwitchWebFluxTests.Security.class)
		.withPropertyValues("ratelimit.redis.timeout=2s");

	@Test
	void policyThatIsNamedIsOnlyDeletedByForceAndGoesOnInItsLastVersion(RedisServer redis) {
		run(redis, this.context, (context) -> write(context));
		run(redis, this.context.withBean(Orders.class), (context) -> {
			delete(context, POLICY).expectStatus()
				.isEqualTo(409)
				.expectBody()
				.jsonPath("$.detail")
				.value(containsString("@RateLimited on Orders.list"))
				.jsonPath("$.fix")
				.value(containsString("?force=true"));
			assertThat(policies(context).get().retired()).isEmpty();
			delete(context, POLICY + "?force=true").expectStatus().isOk();
			await().until(() -> policies(context).get().retired().contains("extra"));
			assertThat(list(context)).contains("extra").contains("\"retired\":true");
			assertThat(check(context).outcome()).isEqualTo(Decision.Outcome.ALLOWED);
			assertThat(check(context).outcome()).isEqualTo(Decision.Outcome.REFUSED);
		});
	}

	@Test
	void policyOfAUrlEntryIsInUseAndKeepsToWhatTheEntryKnows(RedisServer redis) {
		run(redis, this.context, (context) -> write(context));
		run(redis, withEntry(this.context), (context) -> {
			delete(context, POLICY).expectStatus()
				.isEqualTo(409)
				.expectBody()
				.jsonPath("$.detail")
				.value(containsString("URL entry 'login'"));
			post(context, "{\"per-user\": {\"by\": [\"user\"], \"quota\": \"1/h\"}}").expectStatus()
				.isBadRequest()
				.expectBody()
				.jsonPath("$.field")
				.isEqualTo("policy.limits.per-user.by")
				.jsonPath("$.detail")
				.value(containsString("counts by user, which is not known before authentication"))
				.jsonPath("$.fix")
				.value(containsString("count by ip, region, [] only"));
			post(context, "{\"per-ip\": {\"by\": [\"ip\"], \"quota\": \"1/h\"}}").expectStatus().isOk();
		});
	}

	@Test
	void configuredPolicyThatTheEntryCannotUseDoesNotComeBack(RedisServer redis) {
		ReactiveWebApplicationContextRunner configured = this.context.withPropertyValues(
				"ratelimit.policies.extra.limits.per-user.by=user",
				"ratelimit.policies.extra.limits.per-user.quota=5/h");
		run(redis, configured, (context) -> write(context));
		run(redis, withEntry(configured), (context) -> {
			for (WebTestClient.ResponseSpec refused : List.of(delete(context, POLICY),
					delete(context, POLICY + "?force=true"), body(context, "{\"rollback\": 0}"))) {
				refused.expectStatus()
					.isBadRequest()
					.expectBody()
					.jsonPath("$.field")
					.isEqualTo("policy.limits.per-user.by")
					.jsonPath("$.fix")
					.value(containsString("before-authentication' to false first"));
			}
			assertThat(policies(context).get().find("extra").version()).isEqualTo(1);
		});
	}

	@Test
	void everyVersionInForceMustFitTheEntry(RedisServer redis) {
		ReactiveWebApplicationContextRunner configured = this.context.withPropertyValues(
				"ratelimit.policies.extra.limits.per-user.by=user",
				"ratelimit.policies.extra.limits.per-user.quota=5/h");
		run(redis, configured, (context) -> {
			body(context, "{\"policy\": {\"limits\": {\"all\": {\"by\": [], \"quota\": \"1/h\"}}, "
					+ "\"rollout\": {\"percent\": 10}}}")
				.expectStatus()
				.isOk();
			await().until(() -> policies(context).get().versions("extra").size() == 2);
		});
		at(redis, withEntry(configured)).run((context) -> assertThat(context).getFailure()
			.hasStackTraceContaining("counts by user, which is not known before authentication"));
	}

	@Test
	void versionOfAnInstanceWithoutTheEntryIsRejectedWhereTheEntryIs(RedisServer redis, CapturedOutput output) {
		run(redis, this.context, (writer) -> {
			write(writer);
			run(redis, withEntry(this.context), (context) -> {
				post(writer, "{\"per-user\": {\"by\": [\"user\"], \"quota\": \"1/h\"}}").expectStatus().isOk();
				await().atMost(MINUTE)
					.until(() -> list(context).contains("\"id\":\"extra\",\"version\":2,\"message\""));
				assertThat(list(context)).contains("counts by user, which is not known before authentication");
				assertThat(policies(context).get().versions("extra")).extracting(Policy::version).containsExactly(1L);
				assertThat(output).contains("Version 2 of policy 'extra' is in the store but not in force")
					.contains("'ratelimit.urls.login.before-authentication' to false first");
				post(writer, "{\"per-ip\": {\"by\": [\"ip\"], \"quota\": \"1/h\"}}").expectStatus().isOk();
				await().atMost(MINUTE).until(() -> policies(context).get().find("extra").version() == 3);
				assertThat(list(context)).doesNotContain("rejected");
			});
		});
	}

	private static ReactiveWebApplicationContextRunner withEntry(ReactiveWebApplicationContextRunner runner) {
		return runner.withConfiguration(AutoConfigurations.of(RateLimitUrlsAutoConfiguration.class))
			.withPropertyValues("ratelimit.urls.login.path=/login", "ratelimit.urls.login.policy=extra",
					"ratelimit.urls.login.before-authentication=true");
	}

	@Test
	void policyThatIsAlsoInTheConfigurationIsDeletedAtOnce(RedisServer redis) {
		run(redis,
				this.context.withBean(Orders.class)
					.withPropertyValues("ratelimit.policies.extra.limits.all.by=",
							"ratelimit.policies.extra.limits.all.quota=5/h"),
				(context) -> {
					write(context);
					delete(context, POLICY).expectStatus().isOk();
				});
	}

	@Test
	void policyThatNothingNamesIsDeletedAtOnce(RedisServer redis) {
		run(redis, this.context, (context) -> {
			write(context);
			delete(context, POLICY).expectStatus().isOk();
			await().until(() -> policies(context).get().retired().contains("extra"));
			assertThat(list(context)).doesNotContain("extra");
			assertThat(read(context, "")).contains("\"policies\"").doesNotContain("extra");
		});
	}

	private static void write(ApplicationContext context) {
		post(context, "{\"all\": {\"by\": [], \"quota\": \"1/h\"}}").expectStatus().isOk();
		await().until(() -> policies(context).get().find("extra") != null
				&& policies(context).get().find("extra").version() == 1);
	}

	private static WebTestClient.ResponseSpec post(ApplicationContext context, String limits) {
		return body(context, "{\"policy\": {\"limits\": " + limits + "}}");
	}

	private static WebTestClient.ResponseSpec body(ApplicationContext context, String body) {
		return client(context).post()
			.uri(POLICY)
			.headers((headers) -> headers.setBasicAuth("ann", "secret"))
			.contentType(MediaType.APPLICATION_JSON)
			.bodyValue(body)
			.exchange();
	}

	private static WebTestClient.ResponseSpec delete(ApplicationContext context, String uri) {
		return client(context).delete().uri(uri).headers((headers) -> headers.setBasicAuth("ann", "secret")).exchange();
	}

	private static String list(ApplicationContext context) {
		return read(context, "/policies");
	}

	private static String read(ApplicationContext context, String path) {
		return String.valueOf(client(context).get()
			.uri("/actuator/ratelimit" + path)
			.headers((headers) -> headers.setBasicAuth("ann", "secret"))
			.exchange()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody());
	}

	private static Decision check(ApplicationContext context) {
		return context.getBean(RateLimiter.class).check(Request.of("extra")).toCompletableFuture().join();
	}

	private static Policies policies(ApplicationContext context) {
		return context.getBean(Policies.class);
	}

	private static WebTestClient client(ApplicationContext context) {
		return WebTestClient.bindToApplicationContext(context)
			.configureClient()
			.responseTimeout(Duration.ofSeconds(20))
			.build();
	}

	private static void run(RedisServer redis, ReactiveWebApplicationContextRunner runner,
			Consumer<ApplicationContext> test) {
		at(redis, runner).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context);
		});
	}

	private static ReactiveWebApplicationContextRunner at(RedisServer redis,
			ReactiveWebApplicationContextRunner runner) {
		return runner.withPropertyValues("spring.data.redis.host=" + redis.host(),
				"spring.data.redis.port=" + redis.port());
	}

	/**
	 * Names a policy.
	 */
	static class Orders {

		@RateLimited("extra")
		String list() {
			return "";
		}

	}

}
