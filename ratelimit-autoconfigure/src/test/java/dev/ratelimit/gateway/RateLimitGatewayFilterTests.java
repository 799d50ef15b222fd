package dev.ratelimit.gateway;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.reactive.server.EntityExchangeResult;
import org.springframework.test.web.reactive.server.WebTestClient;
import reactor.blockhound.BlockHound;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The filter in a real gateway over real HTTP, with security in front and routes from
 * YAML. Each test has a tenant and a user of its own, so that they do not share counters.
 */
@SpringBootTest(classes = GatewayTestApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("gateway-test")
class RateLimitGatewayFilterTests {

	@Autowired
	private WebTestClient client;

	@Autowired
	private ApplicationEventPublisher events;

	private String tenant;

	@BeforeAll
	static void detectBlockingCalls() {
		BlockHound.install();
	}

	@BeforeEach
	void callerOfItsOwn() {
		this.tenant = UUID.randomUUID().toString();
	}

	@Test
	void allowedResponseHasTheHeadersAndReplacesTheUpstreams() {
		get("/orders", Tokens.of(this.tenant, "ann")).expectStatus()
			.isOk()
			.expectHeader()
			.valueEquals("X-RateLimit-Limit", "3")
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "2")
			.expectHeader()
			.valueEquals("X-RateLimit-Policy", "orders")
			.expectHeader()
			.valueEquals("X-Upstream", "yes")
			.expectHeader()
			.exists("RateLimit")
			.expectHeader()
			.valueMatches("RateLimit-Policy", "\"per-user\";q=3;w=60, \"per-tenant\";q=5;w=60")
			.expectBody(String.class)
			.isEqualTo("hello");
	}

	@Test
	void refusedResponseIsAProblemWithRetryAfter() {
		String ann = Tokens.of(this.tenant, "ann");
		get("/orders-3", ann).expectStatus().isOk();
		get("/orders", ann).expectStatus()
			.isEqualTo(429)
			.expectHeader()
			.contentType("application/problem+json")
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "0")
			.expectHeader()
			.valueEquals("X-RateLimit-Scope", "user")
			.expectHeader()
			.valueMatches("Retry-After", "(2[0-9]|30|40)|3[0-9]")
			.expectHeader()
			.doesNotExist("X-Upstream")
			.expectBody()
			.jsonPath("$.type")
			.isEqualTo("https://iana.org/assignments/http-problem-types#quota-exceeded")
			.jsonPath("$.policy")
			.isEqualTo("orders")
			.jsonPath("$.limit")
			.isEqualTo("per-user")
			.jsonPath("$.scope")
			.isEqualTo("user")
			.jsonPath("$.quota")
			.isEqualTo("3/m")
			.jsonPath("$.detail")
			.isEqualTo("Limit of 3 per 60 s exceeded for user");
	}

	@Test
	void otherTenantIsNotAffected() {
		get("/orders-3", Tokens.of(this.tenant, "ann")).expectStatus().isOk();
		get("/orders", Tokens.of(this.tenant, "ann")).expectStatus().isEqualTo(429);
		get("/orders", Tokens.of(this.tenant + "2", "ann")).expectStatus().isOk();
	}

	@Test
	void tenantIsCappedOverAllItsUsers() {
		get("/orders-3", Tokens.of(this.tenant, "ann")).expectStatus().isOk();
		get("/orders-2", Tokens.of(this.tenant, "bob")).expectStatus().isOk();
		get("/orders", Tokens.of(this.tenant, "cid")).expectStatus()
			.isEqualTo(429)
			.expectHeader()
			.valueEquals("X-RateLimit-Scope", "tenant");
	}

	@Test
	void costInTheRouteIsCharged() {
		get("/orders-2", Tokens.of(this.tenant, "ann")).expectHeader().valueEquals("X-RateLimit-Remaining", "1");
	}

	@Test
	void costThatCanNeverFitHasNoRetryAfter() {
		get("/orders-4", Tokens.of(this.tenant, "ann")).expectStatus()
			.isEqualTo(429)
			.expectHeader()
			.doesNotExist("Retry-After");
	}

	@Test
	void costByPathPatternIsCharged() {
		String ann = Tokens.of(this.tenant, "ann");
		get("/costs/export/all", ann).expectHeader().valueEquals("X-RateLimit-Remaining", "5");
		get("/costs/export/all/", ann).expectHeader().valueEquals("X-RateLimit-Remaining", "0");
	}

	@Test
	void longFormTakesCostAndDimensionsByBean() {
		this.client.get()
			.uri("/accounts")
			.header("X-Account", this.tenant)
			.exchange()
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "7");
		this.client.get()
			.uri("/accounts")
			.header("X-Account", this.tenant + "2")
			.exchange()
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "7");
	}

	@Test
	void javaDslTakesTheSameFilter() {
		get("/dsl", Tokens.of(this.tenant, "ann")).expectStatus()
			.isOk()
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "8");
	}

	@Test
	void refusalByTheSecondFilterGivesBackWhatTheFirstTook() {
		String ann = Tokens.of(this.tenant, "ann");
		get("/both", ann).expectStatus()
			.isOk()
			.expectHeader()
			.valueEquals("X-RateLimit-Policy", "narrow")
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "0");
		get("/both", ann).expectStatus().isEqualTo(429).expectHeader().valueEquals("X-RateLimit-Policy", "narrow");
		get("/wide", ann).expectHeader().valueEquals("X-RateLimit-Remaining", "8");
	}

	@Test
	void bodyAndHeaderNameTheSameWaitWhenTheSecondFilterRefuses() {
		String ann = Tokens.of(this.tenant, "ann");
		get("/both", ann).expectStatus().isOk();
		for (int i = 0; i < 5; i++) {
			EntityExchangeResult<String> refused = get("/both", ann).expectBody(String.class).returnResult();
			assertThat(refused.getResponseBody())
				.contains("\"retryAfter\":" + refused.getResponseHeaders().getFirst("Retry-After") + ",");
		}
	}

	@Test
	void headerNeverSelectsTheTenant() {
		String ann = Tokens.of(this.tenant, "ann");
		get("/orders-3", ann).expectStatus().isOk();
		this.client.get()
			.uri("/orders")
			.header("Authorization", ann)
			.header("X-Tenant", "other")
			.header("X-Tenant-Id", "other")
			.header("tenant_id", "other")
			.exchange()
			.expectStatus()
			.isEqualTo(429);
	}

	@Test
	void expiredOrForgedTokenIsTurnedAwayAndChargesNobody() {
		get("/orders", Tokens.expired(this.tenant, "ann")).expectStatus().isUnauthorized();
		get("/orders", Tokens.forged(this.tenant, "ann")).expectStatus().isUnauthorized();
		get("/orders", Tokens.of(this.tenant, "ann")).expectHeader().valueEquals("X-RateLimit-Remaining", "2");
	}

	@Test
	void forgedForwardedForDoesNotChooseTheIp() {
		for (int i = 0; i < 3; i++) {
			this.client.get()
				.uri("/ip/" + this.tenant)
				.header("X-Forwarded-For", "1.2.3." + i)
				.exchange()
				.expectStatus()
				.isOk();
		}
		this.client.get()
			.uri("/ip/" + this.tenant)
			.header("X-Forwarded-For", "1.2.3.99")
			.exchange()
			.expectStatus()
			.isEqualTo(429);
	}

	@Test
	void unverifiedKeyThatLooksAllowListedOrOverriddenEscapesNothing() {
		for (String key : new String[] { "allowed-key", "overridden-key" }) {
			String unique = key;
			for (int i = 0; i < 3; i++) {
				withKey(unique).expectStatus().isOk().expectHeader().valueEquals("X-RateLimit-Limit", "3");
			}
			withKey(unique).expectStatus().isEqualTo(429);
		}
	}

	@Test
	void verifiedKeyGivesTenantAndTier() {
		withKey("good-key").expectStatus().isOk().expectHeader().valueEquals("X-RateLimit-Limit", "30");
	}

	@Test
	void missingIdentityIsUnauthorizedWhereThePolicySaysSo() {
		this.client.get().uri("/members").exchange().expectStatus().isUnauthorized();
		get("/members", Tokens.of(Map.of("sub", " ", "tenant_id", 7))).expectStatus().isUnauthorized();
		get("/members", Tokens.of(this.tenant, "ann")).expectStatus().isOk();
	}

	@Test
	void denyListedCallerIsForbidden() {
		get("/orders", Tokens.of("banned-tenant", "ann")).expectStatus().isForbidden();
	}

	@Test
	void allowListedCallerIsNeverLimited() {
		for (int i = 0; i < 10; i++) {
			get("/orders", Tokens.of("internal", "ann")).expectStatus()
				.isOk()
				.expectHeader()
				.doesNotExist("X-RateLimit-Policy");
		}
	}

	@Test
	void shadowNeverRefusesAndShowsNothing() {
		for (int i = 0; i < 5; i++) {
			get("/shadow", Tokens.of(this.tenant, "ann")).expectStatus()
				.isOk()
				.expectHeader()
				.doesNotExist("X-RateLimit-Policy")
				.expectHeader()
				.doesNotExist("RateLimit-Policy");
		}
	}

	@Test
	void resolverThatThrowsIsCountedByTheIpWhateverTheFailureMode() {
		for (String path : new String[] { "/broken-allow", "/broken-deny", "/broken-skip" }) {
			get(path, Tokens.of(this.tenant, "ann")).expectStatus()
				.isOk()
				.expectHeader()
				.valueEquals("X-RateLimit-Remaining", "0");
			get(path, Tokens.of(this.tenant, "ann")).expectStatus().isEqualTo(429);
		}
	}

	@Test
	void denyListHoldsForACallerThatMakesAResolverThrow() {
		get("/broken-allow", Tokens.of("banned-tenant", "ann")).expectStatus().isForbidden();
	}

	@Test
	void failingVerifierDegradesOnlyTheLimitThatNeedsTheKeysTenant() {
		for (int i = 0; i < 2; i++) {
			withKey("/key-tenants", "failing-key").expectStatus().isOk();
		}
		withKey("/key-tenants", "failing-key").expectStatus()
			.isEqualTo(429)
			.expectBody()
			.jsonPath("$.limit")
			.isEqualTo("per-ip");
	}

	@Test
	void twoDifferentKeysAreAMissingIdentity() {
		this.client.get()
			.uri("/keyed")
			.header("X-API-Key", "good-key", "other-key")
			.exchange()
			.expectStatus()
			.isUnauthorized();
		withKey("/keyed", "good-key").expectStatus().isOk();
	}

	@Test
	void hostileInputGetsANormalDecision() {
		WebTestClient.RequestHeadersSpec<?> request = this.client.get()
			.uri("/keys")
			.header("X-API-Key", "{" + "k}:\t".repeat(2_000));
		for (int i = 0; i < 100; i++) {
			request.header("X-Forwarded-For", "::ffff:1.2.3.4, {}, 999.999.999.999, " + "x".repeat(20));
		}
		request.exchange().expectStatus().isOk().expectHeader().valueEquals("X-RateLimit-Remaining", "2");
	}

	@Test
	void routesCanBeRefreshedUnderLoadWithoutAGap() {
		String ann = Tokens.of(this.tenant, "ann");
		CompletableFuture<Void> load = CompletableFuture.allOf(IntStream.range(0, 4)
			.mapToObj((thread) -> CompletableFuture.runAsync(() -> IntStream.range(0, 50)
				.forEach((i) -> get("/refreshed", ann).expectStatus()
					.isOk()
					.expectHeader()
					.valueEquals("X-RateLimit-Policy", "refreshed"))))
			.toArray(CompletableFuture<?>[]::new));
		do {
			this.events.publishEvent(new RefreshRoutesEvent(this));
		}
		while (!load.isDone());
		load.join();
		get("/refreshed", ann).expectHeader().valueEquals("X-RateLimit-Remaining", "799");
	}

	@Test
	void gatewaysOwnFilterSwitchesByNamingTheBean() {
		get("/drop-in", Tokens.of(this.tenant, "ann"), "a").expectStatus()
			.isOk()
			.expectHeader()
			.valueEquals("X-RateLimit-Remaining", "1")
			.expectHeader()
			.valueEquals("X-RateLimit-Burst-Capacity", "2")
			.expectHeader()
			.valueEquals("X-RateLimit-Replenish-Rate", "100");
		get("/drop-in-slow", Tokens.of(this.tenant, "ann"), "a").expectStatus().isOk();
		get("/drop-in-slow", Tokens.of(this.tenant, "ann"), "a").expectStatus()
			.isEqualTo(429)
			.expectHeader()
			.valueEquals("Retry-After", "1");
		get("/drop-in-slow", Tokens.of(this.tenant, "ann"), "b").expectStatus().isOk();
	}

	@Test
	void gatewaysOwnFilterObeysTheListsByWhoCalls() {
		get("/drop-in", Tokens.of("banned-tenant", "ann"), "a").expectStatus()
			.isEqualTo(429)
			.expectHeader()
			.doesNotExist("Retry-After")
			.expectHeader()
			.doesNotExist("X-RateLimit-Remaining");
		for (int i = 0; i < 3; i++) {
			get("/drop-in-slow", Tokens.of("internal", this.tenant), this.tenant).expectStatus()
				.isOk()
				.expectHeader()
				.doesNotExist("X-RateLimit-Remaining");
		}
	}

	private WebTestClient.ResponseSpec withKey(String key) {
		return withKey("/keys", key);
	}

	private WebTestClient.ResponseSpec withKey(String uri, String key) {
		return this.client.get().uri(uri).header("X-API-Key", key).exchange();
	}

	private WebTestClient.ResponseSpec get(String uri, String authorization) {
		return this.client.get().uri(uri).header("Authorization", authorization).exchange();
	}

	private WebTestClient.ResponseSpec get(String uri, String authorization, String key) {
		return this.client.get().uri(uri).header("Authorization", authorization).header("X-Key", key).exchange();
	}

}
