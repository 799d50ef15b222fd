package dev.ratelimit.actuate;

import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
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
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotStore;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Hot keys through the endpoint, on the reactive stack and with counters in memory.
 */
class HotKeyWebFluxTests {

	private static final String HOT_KEYS = "/actuator/ratelimit/hotkeys";

	private static final String ADMIN = "ann";

	private static final String ACME = "{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\", "
			+ "\"for\": \"30m\", \"reason\": \"launch day\"}";

	private final ReactiveWebApplicationContextRunner context = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(HttpHandlerAutoConfiguration.class, JacksonAutoConfiguration.class,
				CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, EndpointAutoConfiguration.class,
				WebEndpointAutoConfiguration.class, ReactiveManagementContextAutoConfiguration.class,
				ManagementContextAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class,
				ReactiveSecurityAutoConfiguration.class))
		.withUserConfiguration(SwitchWebFluxTests.Security.class)
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED", "ratelimit.hot.threshold=100",
				"ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=1000000/s",
				"ratelimit.policies.orders.limits.per-ip.by=ip",
				"ratelimit.policies.orders.limits.per-ip.quota=1000000/s", "ratelimit.policies.small.limits.all.by=",
				"ratelimit.policies.small.limits.all.quota=10/s", "ratelimit.policies.small.limits.all.split=2");

	private final CapturedLog log = new CapturedLog("dev.ratelimit.audit");

	@AfterEach
	void end() {
		this.log.close();
	}

	@Test
	void busyCounterIsListedWithItsRate() {
		run((context, client) -> {
			Request request = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.IP, "203.0.113.7");
			await().atMost(Duration.ofSeconds(30)).until(() -> {
				for (int i = 0; i < 100; i++) {
					context.getBean(RateLimiter.class).check(request);
				}
				return context.getBean(HotCounters.class).top().size() == 2;
			});
			SwitchWebFluxTests.viewer(client)
				.get()
				.uri(HOT_KEYS)
				.exchange()
				.expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.length()")
				.isEqualTo(2)
				.jsonPath("$[0].policy")
				.isEqualTo("orders")
				.jsonPath("$[0].rate")
				.value((Integer rate) -> assertThat(rate).isPositive())
				.jsonPath("$[0].hot")
				.isEqualTo(true)
				.jsonPath("$[0].marked")
				.isEqualTo(false)
				.jsonPath("$[*].limit")
				.value((List<String> limits) -> assertThat(limits).containsExactlyInAnyOrder("per-tenant", "per-ip"));
		});
	}

	@Test
	void counterThatRefusesIsListedByRefusals() {
		run((context, client) -> {
			for (int i = 0; i < 30; i++) {
				context.getBean(RateLimiter.class).check(Request.of("small"));
			}
			await().atMost(Duration.ofSeconds(30)).until(() -> !context.getBean(TopRefusals.class).top().isEmpty());
			SwitchWebFluxTests.viewer(client)
				.get()
				.uri(HOT_KEYS + "?by=refusals")
				.exchange()
				.expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.length()")
				.isEqualTo(1)
				.jsonPath("$[0].policy")
				.isEqualTo("small")
				.jsonPath("$[0].limit")
				.isEqualTo("all")
				.jsonPath("$[0].key")
				.value((String key) -> assertThat(key).startsWith("rl:"))
				.jsonPath("$[0].refusals")
				.value((Integer refusals) -> assertThat(refusals).isBetween(15, 20));
		});
	}

	@Test
	void orderThatDoesNotExistIsAProblem() {
		run((context, client) -> SwitchWebFluxTests.viewer(client)
			.get()
			.uri(HOT_KEYS + "?by=size")
			.exchange()
			.expectStatus()
			.isBadRequest()
			.expectBody()
			.jsonPath("$.field")
			.isEqualTo("by"));
	}

	@Test
	void adminMarksACounterLooksAndTakesTheMarkAway() {
		run((context, client) -> {
			post(client, ADMIN, ACME).expectStatus()
				.isOk()
				.expectBody()
				.json("{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"hot\": true, \"marked\": true, "
						+ "\"actor\": \"ann\", \"reason\": \"launch day\"}");
			await().until(() -> !context.getBean(HotCounters.class).top().isEmpty());
			String shown = get(client);
			assertThat(shown).contains("\"marked\":true", "\"actor\":\"ann\"", "\"until\":").doesNotContain("acme");
			delete(client, ADMIN, "?policy=orders&limit=per-tenant&tenant=acme").expectStatus()
				.isOk()
				.expectBody()
				.json("{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"marked\": false}");
			await().until(() -> get(client).equals("[]"));
		});
	}

	@Test
	void splitIsShownAndAudited() {
		run((context, client) -> {
			post(client, ADMIN, ACME.replace("{", "{\"split\": 4, ")).expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.split")
				.isEqualTo(4);
			await().until(() -> !context.getBean(HotCounters.class).top().isEmpty());
			assertThat(get(client)).contains("\"split\":4");
			assertThat(this.log.lines()).singleElement()
				.asString()
				.containsPattern("marked until \\S+ in 4 parts\" reason=\"launch day\"");
		});
	}

	@Test
	void markIsTakenAwayByTheKeyThatIsShown() {
		run((context, client) -> {
			HotCounters hot = context.getBean(HotCounters.class);
			post(client, ADMIN, ACME).expectStatus().isOk();
			await().until(() -> !hot.top().isEmpty());
			client.delete()
				.uri((uri) -> uri.path(HOT_KEYS).queryParam("key", "{key}").build(hot.top().get(0).name().key()))
				.headers((headers) -> headers.setBasicAuth(ADMIN, "secret"))
				.exchange()
				.expectStatus()
				.isOk();
			await().until(() -> hot.top().isEmpty());
		});
	}

	@Test
	void keyThatIsNotShownIsAProblem() {
		run((context, client) -> delete(client, ADMIN, "?key=whatever").expectStatus()
			.isBadRequest()
			.expectBody()
			.jsonPath("$.field")
			.isEqualTo("key"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "{\"policy\": \"order\"} | policy", "{\"policy\": \"orders\"} | limit",
			"{\"policy\": \"orders\", \"limit\": \"per-user\"} | limit",
			"{\"policy\": \"orders\", \"limit\": \"per-tenant\"} | tenant",
			"{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": 7} | tenant",
			"{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\", \"user\": \"x\"} | user",
			"{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\", \"for\": \"1\"} | for",
			"{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\", \"split\": 1} | split",
			"{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\", \"split\": 65} | split",
			"{\"policy\": \"orders\", \"limit\": \"per-tenant\", \"tenant\": \"acme\", \"split\": \"4\"} | split",
			"{\"policy\": \"small\", \"limit\": \"all\", \"split\": 11} | split",
			"{\"policy\": \"small\", \"limit\": \"all\", \"split\": 2} | split" })
	void whatCannotBeMeantIsAProblemWithFieldAndFix(String body, String field) {
		run((context, client) -> {
			post(client, ADMIN, body).expectStatus()
				.isBadRequest()
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectBody()
				.jsonPath("$.field")
				.isEqualTo(field)
				.jsonPath("$.fix")
				.isNotEmpty();
			assertThat(this.log.lines()).singleElement().asString().contains("action=hotkey-mark outcome=invalid");
		});
	}

	@Test
	void bodyThatIsNoObjectIsAProblem() {
		run((context, client) -> {
			for (String body : List.of("", "{}", "{", "[]")) {
				post(client, ADMIN, body).expectStatus().isBadRequest().expectBody().jsonPath("$.fix").isNotEmpty();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "bob", "" })
	void whoLacksTheRoleMayLookButNotMark(String user) {
		run((context, client) -> {
			assertThat(get(client)).isEqualTo("[]");
			post(client, user, ACME).expectStatus().isForbidden();
			delete(client, user, "?policy=orders").expectStatus().isForbidden();
			assertThat(this.log.lines()).hasSize(2);
			assertThat(this.log.lines().get(0)).contains("action=hotkey-mark outcome=refused")
				.contains("reason=\"launch day\"");
		});
	}

	@Test
	void everyMarkIsAuditedWithoutTheCallersValue() {
		run((context, client) -> {
			post(client, ADMIN, ACME).expectStatus().isOk();
			await().until(() -> !context.getBean(HotCounters.class).top().isEmpty());
			delete(client, ADMIN, "?policy=orders&limit=per-tenant&tenant=acme").expectStatus().isOk();
			assertThat(this.log.lines()).hasSize(2);
			assertThat(this.log.lines().get(0)).containsPattern("action=hotkey-mark outcome=done actor=\"ann\" "
					+ "before=\"orders/per-tenant rl:\\S+ not marked\" "
					+ "after=\"orders/per-tenant rl:\\S+ marked until \\S+\" reason=\"launch day\"");
			assertThat(this.log.lines().get(1)).containsPattern(
					"action=hotkey-unmark outcome=done actor=\"ann\" before=\"\\S+ rl:\\S+ marked until \\S+\" "
							+ "after=\"\\S+ rl:\\S+ not marked\"");
			assertThat(this.log.lines()).noneMatch((line) -> line.contains("acme"));
		});
	}

	@Test
	void tooManyMarksAreAProblem() {
		run((context, client) -> {
			for (int i = 0; i < HotStore.MAX_MARKS; i++) {
				post(client, ADMIN, ACME.replace("acme", "tenant" + i)).expectStatus().isOk();
			}
			post(client, ADMIN, ACME).expectStatus().isEqualTo(503);
			assertThat(this.log.lines().get(HotStore.MAX_MARKS)).contains("outcome=failed");
		});
	}

	@Test
	void accessThatIsReadOnlyLeavesWritesOut() {
		this.context.withPropertyValues("management.endpoint.ratelimit.access=READ_ONLY").run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			assertThat(get(client)).isEqualTo("[]");
			post(client, ADMIN, ACME).expectStatus().isEqualTo(405);
			delete(client, ADMIN, "?policy=orders").expectStatus().isEqualTo(405);
		});
	}

	private void run(BiConsumer<ApplicationContext, WebTestClient> test) {
		this.context.run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context, WebTestClient.bindToApplicationContext(context).build());
		});
	}

	private static String get(WebTestClient client) {
		return SwitchWebFluxTests.viewer(client)
			.get()
			.uri(HOT_KEYS)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody();
	}

	private static WebTestClient.ResponseSpec post(WebTestClient client, String user, String body) {
		return client.post()
			.uri(HOT_KEYS)
			.headers((headers) -> login(headers, user))
			.contentType(MediaType.APPLICATION_JSON)
			.bodyValue(body)
			.exchange();
	}

	private static WebTestClient.ResponseSpec delete(WebTestClient client, String user, String query) {
		return client.delete().uri(HOT_KEYS + query).headers((headers) -> login(headers, user)).exchange();
	}

	private static void login(HttpHeaders headers, String user) {
		if (!user.isEmpty()) {
			headers.setBasicAuth(user, "secret");
		}
	}

}
