package dev.ratelimit.actuate;

import java.util.function.BiConsumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
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

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.admin.RateLimitAdminAutoConfiguration;
import dev.ratelimit.autoconfigure.Policies;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.testing.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What callers have used, the audit trail and bodies that cannot be read, on the reactive
 * stack and with counters in memory.
 */
class UsageWebFluxTests {

	private static final String USAGE = "/actuator/ratelimit/usage";

	private static final String AUDIT = "/actuator/ratelimit/audit";

	private static final String SWITCH = "/actuator/ratelimit/switch";

	private static final String ANN = "?policy=orders&tenant=acme&user=ann";

	private final ReactiveWebApplicationContextRunner context = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(HttpHandlerAutoConfiguration.class, JacksonAutoConfiguration.class,
				CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, EndpointAutoConfiguration.class,
				WebEndpointAutoConfiguration.class, ReactiveManagementContextAutoConfiguration.class,
				ManagementContextAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitAdminAutoConfiguration.class, RateLimitEndpointAutoConfiguration.class,
				ReactiveSecurityAutoConfiguration.class))
		.withUserConfiguration(SwitchWebFluxTests.Security.class)
		.withPropertyValues("management.endpoints.web.exposure.include=ratelimit",
				"management.endpoint.ratelimit.access=UNRESTRICTED",
				"ratelimit.policies.orders.limits.per-user.by=tenant,user",
				"ratelimit.policies.orders.limits.per-user.quota=10/h,100/d",
				"ratelimit.policies.orders.limits.per-tenant.by=tenant",
				"ratelimit.policies.orders.limits.per-tenant.quota=50/h",
				"ratelimit.policies.orders.tiers.pro.limits.per-tenant=80/h",
				"ratelimit.policies.orders.limits.per-ip.by=ip", "ratelimit.policies.orders.limits.per-ip.quota=20/h");

	private final CapturedLog log = new CapturedLog("dev.ratelimit.audit");

	@AfterEach
	void end() {
		this.log.close();
	}

	@ParameterizedTest
	@EnumSource
	void everyAlgorithmTellsWhatWasUsedAndForgetsItOnReset(Algorithm algorithm) {
		this.context.withPropertyValues("ratelimit.policies.orders.algorithm=" + algorithm.text()).run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			spend(context, 3);
			get(client, USAGE + ANN).expectStatus()
				.isOk()
				.expectBody()
				.json("{\"policy\": \"orders\", \"version\": 0, \"limits\": ["
						+ "{\"limit\": \"per-user\", \"by\": [\"tenant\", \"user\"], \"enforcement\": \"strict\", "
						+ "\"quotas\": [{\"quota\": \"10/h\", \"window\": 3600, \"limit\": 10, \"used\": 3, \"remaining\": 7}, "
						+ "{\"quota\": \"100/d\", \"used\": 3}]}, "
						+ "{\"limit\": \"per-tenant\", \"quotas\": [{\"used\": 3, \"remaining\": 47}]}], "
						+ "\"missing\": {\"per-ip\": [\"ip\"]}}")
				.jsonPath("$.limits[0].quotas[0].reset")
				.isNotEmpty()
				.jsonPath("$.limits[0].quotas[0].resetAfter")
				.value((Integer seconds) -> assertThat(seconds).isBetween(1, 7200));
			delete(client, "ann", ANN).expectStatus()
				.isOk()
				.expectBody()
				.json("{\"policy\": \"orders\", \"reset\": [\"per-user\", \"per-tenant\"], "
						+ "\"missing\": {\"per-ip\": [\"ip\"]}}");
			get(client, USAGE + ANN).expectBody()
				.jsonPath("$.limits[0].quotas[0].used")
				.isEqualTo(0)
				.jsonPath("$.limits[1].quotas[0].used")
				.isEqualTo(0);
			get(client, USAGE + "?policy=orders&ip=203.0.113.7&limit=per-ip").expectBody()
				.jsonPath("$.limits[0].quotas[0].used")
				.isEqualTo(3);
		});
	}

	@Test
	void oneLimitIsLookedAtAndResetAlone() {
		run((context, client) -> {
			spend(context, 2);
			delete(client, "ann", ANN + "&limit=per-user").expectStatus().isOk();
			get(client, USAGE + ANN + "&limit=per-tenant").expectBody()
				.jsonPath("$.limits.length()")
				.isEqualTo(1)
				.jsonPath("$.limits[0].quotas[0].used")
				.isEqualTo(2);
		});
	}

	@Test
	void tierThatIsGivenIsTheCallers() {
		run((context, client) -> get(client, USAGE + "?policy=orders&tenant=acme&tier=pro").expectBody()
			.jsonPath("$.limits[0].quotas[0].limit")
			.isEqualTo(80));
	}

	@Test
	void tierThatWasAssignedAtRunTimeIsTheCallers() {
		run((context, client) -> {
			context.getBean(Policies.class).get().records().putTier(Dimension.TENANT, "acme", "pro", 1);
			get(client, USAGE + "?policy=orders&tenant=acme").expectBody()
				.jsonPath("$.limits[0].quotas[0].limit")
				.isEqualTo(80);
		});
	}

	@Test
	void callerWithoutAUserIsCountedByItsAddress() {
		run((context, client) -> {
			Request anonymous = Request.of("orders").with(Dimension.TENANT, "acme").with(Dimension.IP, "203.0.113.7");
			context.getBean(RateLimiter.class).check(anonymous).toCompletableFuture().join();
			get(client, USAGE + "?policy=orders&tenant=acme&ip=203.0.113.7&limit=per-user").expectBody()
				.json("{\"limits\": [{\"limit\": \"per-user\", \"ipInsteadOf\": [\"user\"], \"quotas\": [{\"used\": 1}, {}]}]}");
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "''                                  | 400 | policy",
			"?policy=nosuch&tenant=x    | 400 | policy", "?policy=orders                        | 400 | tenant",
			"?policy=orders&tenantt=secret1 | 400 | tenantt", "?policy=orders&tenant=                | 400 | tenant",
			"?policy=orders&tenant=secret1&limit=x | 400 | limit", "?policy=orders&ip=999.1.1.1 | 400 | ip",
			"?policy=orders&api-key=sha256:0000000000000000000000000000000000000000000000000000000000000000 | 400 | api-key" })
	void whatCannotBeMeantIsAProblemWithoutAValue(String query, int status, String field) {
		run((context, client) -> {
			get(client, USAGE + query).expectStatus()
				.isEqualTo(status)
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectBody()
				.jsonPath("$.field")
				.isEqualTo(field)
				.jsonPath("$.fix")
				.isNotEmpty();
			delete(client, "ann", query).expectStatus().isEqualTo(status);
			assertThat(this.log.lines()).singleElement()
				.asString()
				.contains("action=usage-reset outcome=invalid")
				.doesNotContain("secret1");
		});
	}

	@Test
	void dimensionsThatAreNeededAreNamed() {
		run((context, client) -> get(client, USAGE + "?policy=orders&user=ann").expectStatus()
			.isBadRequest()
			.expectBody()
			.jsonPath("$.fix")
			.isEqualTo("Add values: per-user needs tenant, per-tenant needs tenant, per-ip needs ip."));
	}

	@Test
	void resetNeedsTheRoleAndIsAuditedWithoutValues() {
		run((context, client) -> {
			spend(context, 1);
			delete(client, "bob", ANN).expectStatus().isForbidden();
			get(client, USAGE + ANN).expectBody().jsonPath("$.limits[0].quotas[0].used").isEqualTo(1);
			delete(client, "ann", ANN + "&reason=INC-1").expectStatus().isOk();
			assertThat(this.log.lines()).hasSize(2).noneMatch((line) -> line.contains("acme"));
			assertThat(this.log.lines().get(0)).contains("action=usage-reset outcome=refused actor=\"bob\"");
			assertThat(this.log.lines().get(1)).containsPattern("action=usage-reset outcome=done actor=\"ann\" "
					+ "target=\"orders by tenant, user\" before=\"\" after=\"reset per-user rl:\\S+, per-tenant rl:\\S+\" "
					+ "reason=\"INC-1\"");
		});
	}

	@Test
	void countersThatDoNotAnswerAreAProblem() {
		this.context.withBean(Counters.class, AwayCounters::new).run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			get(client, USAGE + ANN).expectStatus().isEqualTo(503);
			delete(client, "ann", ANN).expectStatus().isEqualTo(503);
			assertThat(this.log.lines()).singleElement().asString().contains("outcome=failed");
		});
	}

	@Test
	void withoutAStoreTheTrailIsThisInstancesNewestFirstAndInPages() {
		run((context, client) -> {
			delete(client, "bob", ANN).expectStatus().isForbidden();
			delete(client, "ann", "?policy=nosuch").expectStatus().isBadRequest();
			delete(client, "ann", ANN).expectStatus().isOk();
			String before = field(client, AUDIT + "?limit=2", "$.before");
			get(client, AUDIT + "?limit=2").expectBody()
				.jsonPath("$.source")
				.isEqualTo("instance")
				.jsonPath("$.note")
				.isNotEmpty()
				.jsonPath("$.entries[0].outcome")
				.isEqualTo("done")
				.jsonPath("$.entries[1].outcome")
				.isEqualTo("invalid");
			get(client, AUDIT + "?before=" + before).expectBody()
				.json("{\"entries\": [{\"action\": \"usage-reset\", \"outcome\": \"refused\", \"actor\": \"bob\"}]}");
		});
	}

	@ParameterizedTest
	@CsvSource({ "limit=0, limit", "limit=x, limit", "limit=1001, limit", "before=yesterday, before", "page=2, page" })
	void pageThatCannotBeMeantIsAProblem(String query, String field) {
		run((context, client) -> get(client, AUDIT + '?' + query).expectStatus()
			.isBadRequest()
			.expectBody()
			.jsonPath("$.field")
			.isEqualTo(field));
	}

	@Test
	void bodyThatIsTooLargeIsAProblemAndChangesNothing() {
		this.context.withPropertyValues("spring.codec.max-in-memory-size=10MB").run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			String body = "{\"mode\": \"allow\", \"reason\": \"" + "x".repeat(256 * 1024) + "\"}";
			post(client, MediaType.APPLICATION_JSON, body).expectStatus()
				.isEqualTo(413)
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectBody()
				.jsonPath("$.detail")
				.isEqualTo("The body is larger than 256 KB");
			get(client, SWITCH).expectBody().jsonPath("$.on").isEqualTo(false);
			assertThat(this.log.lines()).singleElement().asString().contains("action=unreadable outcome=invalid");
		});
	}

	@Test
	void bodyThatTheCodecsRefuseIsTheSameProblem() {
		this.context.withPropertyValues("spring.codec.max-in-memory-size=1KB").run((context) -> {
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			post(client, MediaType.APPLICATION_JSON, "{\"reason\": \"" + "x".repeat(4096) + "\"}").expectStatus()
				.isEqualTo(413);
		});
	}

	@Test
	void bodyOfAnotherTypeIsAProblemThatNamesTheRightOne() {
		run((context, client) -> {
			for (MediaType type : new MediaType[] { MediaType.APPLICATION_FORM_URLENCODED, MediaType.TEXT_PLAIN }) {
				post(client, type, "{\"mode\": \"allow\"}").expectStatus()
					.isEqualTo(415)
					.expectBody()
					.jsonPath("$.fix")
					.value((String fix) -> assertThat(fix).contains("application/json"));
			}
			get(client, SWITCH).expectBody().jsonPath("$.on").isEqualTo(false);
		});
	}

	@Test
	void bodyThatIsNoJsonIsAProblem() {
		run((context, client) -> post(client, MediaType.APPLICATION_JSON, "{\"mode\": ").expectStatus()
			.isBadRequest()
			.expectBody()
			.jsonPath("$.detail")
			.isEqualTo("The body is not a JSON object: line 1, column 10: it ends too early"));
	}

	private void run(BiConsumer<ApplicationContext, WebTestClient> test) {
		this.context.run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context, WebTestClient.bindToApplicationContext(context).build());
		});
	}

	private static void spend(ApplicationContext context, int permits) {
		Request ann = Request.of("orders")
			.with(Dimension.TENANT, "acme")
			.with(Dimension.USER, "ann")
			.with(Dimension.IP, "203.0.113.7")
			.withCost(permits);
		assertThat(context.getBean(RateLimiter.class).check(ann).toCompletableFuture().join().allowed()).isTrue();
	}

	private static String field(WebTestClient client, String uri, String path) {
		StringBuilder value = new StringBuilder();
		get(client, uri).expectBody().jsonPath(path).value((String text) -> value.append(text));
		return value.toString();
	}

	private static WebTestClient.ResponseSpec get(WebTestClient client, String uri) {
		return SwitchWebFluxTests.viewer(client).get().uri(uri).exchange();
	}

	private static WebTestClient.ResponseSpec delete(WebTestClient client, String user, String query) {
		return client.delete().uri(USAGE + query).headers((headers) -> login(headers, user)).exchange();
	}

	private static WebTestClient.ResponseSpec post(WebTestClient client, MediaType type, String body) {
		return client.post()
			.uri(SWITCH)
			.headers((headers) -> login(headers, "ann"))
			.contentType(type)
			.bodyValue(body)
			.exchange();
	}

	private static void login(HttpHeaders headers, String user) {
		headers.setBasicAuth(user, "secret");
	}

}
