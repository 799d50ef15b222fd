package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.reactive.ReactiveManagementContextAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.codec.CodecsAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.HttpHandlerAutoConfiguration;
import org.springframework.boot.autoconfigure.web.reactive.WebFluxAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.FailureMode;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.fleet.ForcedMode;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.fleet.SwitchStore;
import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The switch through the endpoint, on the reactive stack. Spring Security lets everybody
 * through, so that it is the endpoint that refuses.
 */
class SwitchWebFluxTests {

	private static final String SWITCH = "/actuator/ratelimit/switch";

	private static final String ADMIN = "ann";

	private final ReactiveWebApplicationContextRunner plain = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(HttpHandlerAutoConfiguration.class, JacksonAutoConfiguration.class,
				CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, EndpointAutoConfiguration.class,
				WebEndpointAutoConfiguration.class, ReactiveManagementContextAutoConfiguration.class,
				ManagementContextAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class,
				RateLimitAuditEventsAutoConfiguration.class))
		.withUserConfiguration(Trail.class)
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED");

	private final ReactiveWebApplicationContextRunner secured = this.plain
		.withConfiguration(AutoConfigurations.of(ReactiveSecurityAutoConfiguration.class))
		.withUserConfiguration(Security.class);

	private final CapturedLog log = new CapturedLog("dev.ratelimit.audit");

	@AfterEach
	void end() {
		this.log.close();
	}

	@Test
	void isOffToBeginWith() {
		run((context, client) -> viewer(client).get()
			.uri(SWITCH)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.json("{\"on\": false}"));
	}

	@Test
	void adminTurnsItOnLooksAndTurnsItOff() {
		run((context, client) -> {
			post(client, ADMIN, "{\"mode\": \"allow\", \"for\": \"30m\", \"reason\": \"incident 7\"}").expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.mode")
				.isEqualTo("allow");
			ModeSwitch modeSwitch = context.getBean(ModeSwitch.class);
			assertThat(modeSwitch.mode()).isEqualTo(FailureMode.ALLOW);
			assertThat(modeSwitch.forced().left()).hasMinutes(29);
			viewer(client).get()
				.uri(SWITCH)
				.exchange()
				.expectBody()
				.json("{\"on\": true, \"mode\": \"allow\", \"from\": \"call\", \"actor\": \"ann\", "
						+ "\"reason\": \"incident 7\"}")
				.jsonPath("$.until")
				.exists();
			viewer(client).get()
				.uri("/actuator/ratelimit")
				.exchange()
				.expectBody()
				.json("{\"backend\": \"memory\", \"fleet\": 1, \"switch\": {\"on\": true, \"mode\": \"allow\"}}")
				.jsonPath("$.instance")
				.isNotEmpty();
			delete(client, ADMIN).expectStatus().isOk().expectBody().json("{\"on\": false}");
			assertThat(modeSwitch.mode()).isNull();
		});
	}

	@Test
	void whatCannotBeMeantIsAProblemWithFieldAndFix() {
		run((context, client) -> {
			post(client, ADMIN, "{\"mode\": \"alow\"}").expectStatus()
				.isBadRequest()
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectBody()
				.jsonPath("$.field")
				.isEqualTo("mode")
				.jsonPath("$.fix")
				.isNotEmpty();
			assertThat(context.getBean(ModeSwitch.class).mode()).isNull();
		});
	}

	@Test
	void bodyThatIsNoObjectIsAProblem() {
		run((context, client) -> {
			for (String body : List.of("", "{", "[]", "\"allow\"")) {
				post(client, ADMIN, body).expectStatus()
					.isBadRequest()
					.expectHeader()
					.contentType(MediaType.APPLICATION_PROBLEM_JSON)
					.expectBody()
					.jsonPath("$.fix")
					.isNotEmpty();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "bob", "" })
	void whoLacksTheRoleMayNotTurnIt(String user) {
		run((context, client) -> {
			post(client, user, "{\"mode\": \"deny\", \"reason\": \"just because\"}").expectStatus()
				.isForbidden()
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectBody()
				.jsonPath("$.detail")
				.isEqualTo("Changes need the authority ROLE_RATELIMIT_ADMIN");
			delete(client, user).expectStatus().isForbidden();
			assertThat(context.getBean(ModeSwitch.class).mode()).isNull();
			assertThat(context.getBean(Trail.class).events).extracting(AuditEvent::getType)
				.containsExactly("RATELIMIT_SWITCH_ON", "RATELIMIT_SWITCH_OFF");
			assertThat(this.log.lines().get(0)).contains("action=switch-on outcome=refused")
				.contains("before=\"off\" after=\"off\" reason=\"just because\"");
		});
	}

	@Test
	void everyTurnIsAudited() {
		run((context, client) -> {
			post(client, ADMIN, "{\"mode\": \"deny\", \"reason\": \"say \\\"no\\\"\\r\\naction=switch-off\"}")
				.expectStatus()
				.isOk();
			delete(client, ADMIN).expectStatus().isOk();
			assertThat(this.log.lines()).hasSize(2);
			assertThat(this.log.lines().get(0))
				.containsPattern("time=\\S+ action=switch-on outcome=done actor=\"ann\" before=\"off\" "
						+ "after=\"deny until \\S+\" reason=\"say \\\\\"no\\\\\" action=switch-off\"");
			assertThat(this.log.lines().get(1)).containsPattern(
					"action=switch-off outcome=done actor=\"ann\" before=\"deny until \\S+\" " + "after=\"off\"");
			assertThat(context.getBean(Trail.class).events).hasSize(2).first().satisfies((event) -> {
				assertThat(event.getPrincipal()).isEqualTo("ann");
				assertThat(event.getData()).containsEntry("outcome", "done").containsEntry("before", "off");
			});
		});
	}

	@Test
	void listenerThatThrowsChangesNothing() {
		run((context, client) -> {
			context.getBean(Trail.class).broken = true;
			post(client, ADMIN, "{\"mode\": \"allow\"}").expectStatus().isOk();
			assertThat(context.getBean(ModeSwitch.class).mode()).isEqualTo(FailureMode.ALLOW);
		});
	}

	@Test
	void storeThatCannotBeWrittenIsAProblemThatNamesTheWayOut() {
		this.secured.withBean(SwitchStore.class, BrokenStore::new).run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			post(client, ADMIN, "{\"mode\": \"allow\"}").expectStatus()
				.isEqualTo(503)
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectBody()
				.jsonPath("$.detail")
				.value((String detail) -> assertThat(detail).contains("ratelimit.switch.mode"));
			delete(client, ADMIN).expectStatus().isEqualTo(503);
			assertThat(context.getBean(ModeSwitch.class).mode()).isNull();
			assertThat(this.log.lines().get(0)).contains("action=switch-on outcome=failed");
		});
	}

	@Test
	void propertyIsToldWithTheCallBehindIt() {
		this.secured.withPropertyValues("ratelimit.switch.mode=deny").run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			viewer(client).get()
				.uri(SWITCH)
				.exchange()
				.expectBody()
				.json("{\"on\": true, \"mode\": \"deny\", \"from\": \"property\"}");
			post(client, ADMIN, "{\"mode\": \"allow\"}").expectStatus()
				.isOk()
				.expectBody()
				.json("{\"mode\": \"deny\", \"from\": \"property\", \"call\": {\"mode\": \"allow\", \"actor\": \"ann\"}}");
		});
	}

	@Test
	void accessThatIsReadOnlyLeavesWritesOut() {
		this.secured.withPropertyValues("management.endpoint.ratelimit.access=READ_ONLY").run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			viewer(client).get().uri(SWITCH).exchange().expectStatus().isOk();
			post(client, ADMIN, "{\"mode\": \"allow\"}").expectStatus().isEqualTo(405);
			delete(client, ADMIN).expectStatus().isEqualTo(405);
			assertThat(context.getBean(ModeSwitch.class).mode()).isNull();
		});
	}

	@Test
	void withoutSpringSecurityWhoReachesItMayTurnIt() {
		this.plain.withClassLoader(new FilteredClassLoader("org.springframework.security")).run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			post(client, "", "{\"mode\": \"allow\"}").expectStatus().isOk();
			assertThat(context.getBean(ModeSwitch.class).mode()).isEqualTo(FailureMode.ALLOW);
			assertThat(this.log.lines().get(0)).contains("actor=\"anonymous\"");
		});
	}

	@ParameterizedTest
	@CsvSource({ "UNRESTRICTED, true", "READ_ONLY, false" })
	void withoutSpringSecurityReadsAreOpenAndAccessThatIsUnrestrictedIsAWarning(String access, boolean warned) {
		try (CapturedLog start = new CapturedLog("dev.ratelimit")) {
			this.plain.withClassLoader(new FilteredClassLoader("org.springframework.security"))
				.withPropertyValues("management.endpoint.ratelimit.access=" + access)
				.run((context) -> {
					WebTestClient anybody = WebTestClient.bindToApplicationContext(context).build();
					anybody.get().uri(SWITCH).exchange().expectStatus().isOk();
					assertThat(start.lines()
						.stream()
						.anyMatch((line) -> line.startsWith("Everybody who reaches the actuator"))).isEqualTo(warned);
				});
		}
	}

	private void run(BiConsumer<ApplicationContext, WebTestClient> test) {
		this.secured.run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context, WebTestClient.bindToApplicationContext(context).build());
		});
	}

	/** The same client, logged in as somebody who may look. */
	static WebTestClient viewer(WebTestClient client) {
		return client.mutate().defaultHeaders((headers) -> headers.setBasicAuth("vic", "secret")).build();
	}

	private static WebTestClient.ResponseSpec post(WebTestClient client, String user, String body) {
		return client.post()
			.uri(SWITCH)
			.headers((headers) -> login(headers::setBasicAuth, user))
			.contentType(MediaType.APPLICATION_JSON)
			.bodyValue(body)
			.exchange();
	}

	private static WebTestClient.ResponseSpec delete(WebTestClient client, String user) {
		return client.method(HttpMethod.DELETE)
			.uri(SWITCH)
			.headers((headers) -> login(headers::setBasicAuth, user))
			.exchange();
	}

	private static void login(BiConsumer<String, String> credentials, String user) {
		if (!user.isEmpty()) {
			credentials.accept(user, "secret");
		}
	}

	private static final class BrokenStore implements SwitchStore {

		@Override
		public CompletionStage<Void> put(ForcedMode forced) {
			return CompletableFuture.failedStage(new IllegalStateException("away"));
		}

		@Override
		public CompletionStage<Void> clear(Duration left) {
			return CompletableFuture.failedStage(new IllegalStateException("away"));
		}

		@Override
		public CompletionStage<Boolean> restore(ForcedMode forced) {
			return CompletableFuture.failedStage(new IllegalStateException("away"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Trail {

		final List<AuditEvent> events = new ArrayList<>();

		volatile boolean broken;

		@EventListener
		synchronized void audited(AuditApplicationEvent event) {
			if (this.broken) {
				throw new IllegalStateException("broken");
			}
			this.events.add(event.getAuditEvent());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Security {

		@Bean
		SecurityWebFilterChain chain(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.httpBasic(Customizer.withDefaults())
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.build();
		}

		/**
		 * A map of users by itself would hash each password anew, which takes its time.
		 */
		@Bean
		ReactiveUserDetailsService users() {
			return new MapReactiveUserDetailsService(Map
				.of("ann", "RATELIMIT_ADMIN", "vic", "RATELIMIT_VIEWER", "bob", "OTHER")
				.entrySet()
				.stream()
				.map((user) -> User.withUsername(user.getKey()).password("{noop}secret").roles(user.getValue()).build())
				.toList())::findByUsername;
		}

	}

}
