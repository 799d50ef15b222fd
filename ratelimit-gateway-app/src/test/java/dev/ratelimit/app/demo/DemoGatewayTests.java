package dev.ratelimit.app.demo;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.actuate.observability.AutoConfigureObservability;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.app.RateLimitGatewayApplication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The demo as a newcomer meets it, over real sockets.
 */
@SpringBootTest(classes = RateLimitGatewayApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "management.server.port=0")
@AutoConfigureObservability(tracing = false)
@ActiveProfiles("demo")
class DemoGatewayTests {

	@Autowired
	private WebTestClient gateway;

	@LocalManagementPort
	private int managementPort;

	@Test
	void tokenEndpointAnswersLikeAnOAuthServer() {
		this.gateway.get()
			.uri("/demo/token?tenant=acme&user=ann&tier=pro&roles=RATELIMIT_ADMIN")
			.exchange()
			.expectStatus()
			.isOk()
			.expectHeader()
			.valueEquals(HttpHeaders.CACHE_CONTROL, "no-store")
			.expectBody()
			.jsonPath("$.access_token")
			.isNotEmpty()
			.jsonPath("$.token_type")
			.isEqualTo("Bearer")
			.jsonPath("$.expires_in")
			.isEqualTo(3600);
	}

	@Test
	void callerWithoutATokenGoesOn() {
		this.gateway.get()
			.uri("/demo/api/anonymous")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.path")
			.isEqualTo("/demo/api/anonymous");
	}

	@Test
	void callerWithATokenGoesOn() {
		callApi(token("ann")).expectStatus().isOk();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "garbage", "a.b.c" })
	void garbageIsTurnedAway(String token) {
		assertTurnedAway(token);
	}

	@Test
	void expiredTokenIsTurnedAway() {
		Instant longAgo = Instant.now().minus(DemoTokens.LIFETIME).minus(Duration.ofMinutes(2));
		assertTurnedAway(DemoTokens.sign(Map.of("sub", "ann"), longAgo));
	}

	@Test
	void tokenSignedWithAnotherKeyIsTurnedAway() throws Exception {
		SignedJWT jwt = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256),
				new JWTClaimsSet.Builder().subject("ann").build());
		jwt.sign(new MACSigner("another key, just as long as the demo's".getBytes(StandardCharsets.US_ASCII)));
		assertTurnedAway(jwt.serialize());
	}

	@Test
	void unsignedTokenIsTurnedAway() {
		assertTurnedAway(new PlainJWT(new JWTClaimsSet.Builder().subject("ann").build()).serialize());
	}

	@Test
	void answersOfTheUpstreamGetNoSecurityHeaders() {
		this.gateway.get()
			.uri("/demo/api/headers")
			.exchange()
			.expectHeader()
			.doesNotExist(HttpHeaders.CACHE_CONTROL)
			.expectHeader()
			.doesNotExist("X-Frame-Options");
	}

	@ParameterizedTest
	@ValueSource(strings = { "health", "health/readiness", "prometheus" })
	void healthAndMetricsAreOpen(String endpoint) {
		assertThat(manage("GET", endpoint, null)).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET", "HEAD" })
	void limitsAreReadWithARoleOnly(String method) {
		assertThat(manage(method, "ratelimit", null)).isEqualTo(401);
		assertThat(manage(method, "ratelimit", "garbage")).isEqualTo(401);
		assertThat(manage(method, "ratelimit", token("ann"))).isEqualTo(403);
		assertThat(manage(method, "ratelimit/lists/deny", token("ann", "OTHER"))).isEqualTo(403);
		assertThat(manage(method, "ratelimit", token("ann", "RATELIMIT_VIEWER"))).isEqualTo(200);
		assertThat(manage(method, "ratelimit", token("ann", "RATELIMIT_ADMIN"))).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "POST", "PUT", "DELETE", "PATCH" })
	void limitsAreChangedWithTheRoleOnly(String method) {
		assertThat(manage(method, "ratelimit/policies", null)).isEqualTo(401);
		assertThat(manage(method, "ratelimit/policies", token("ann"))).isEqualTo(403);
		assertThat(manage(method, "ratelimit/policies", token("ann", "OTHER"))).isEqualTo(403);
		assertThat(manage(method, "ratelimit/policies", token("ann", "RATELIMIT_ADMIN"))).isEqualTo(405);
	}

	@Test
	void attemptThatSecurityTurnsAwayIsInTheTrail() {
		assertThat(manage("POST", "ratelimit/switch", token("mallory", "OTHER"))).isEqualTo(403);
		this.gateway.mutate()
			.baseUrl("http://localhost:" + this.managementPort + "/actuator/")
			.build()
			.get()
			.uri("ratelimit/audit")
			.headers((headers) -> bearer(headers, token("ann", "RATELIMIT_VIEWER")))
			.exchange()
			.expectBody()
			.jsonPath("$.entries[?(@.actor == 'mallory')].action")
			.isEqualTo("denied-by-security")
			.jsonPath("$.entries[?(@.actor == 'mallory')].target")
			.isEqualTo("POST switch");
	}

	@Test
	void limitsAreNotManagedOnTheGatewaysPort() {
		this.gateway.get().uri("/actuator/ratelimit").exchange().expectStatus().isNotFound();
	}

	private void assertTurnedAway(String token) {
		callApi(token).expectStatus()
			.isUnauthorized()
			.expectHeader()
			.value(HttpHeaders.WWW_AUTHENTICATE, (value) -> assertThat(value).startsWith("Bearer"));
	}

	private WebTestClient.ResponseSpec callApi(String token) {
		return this.gateway.get().uri("/demo/api/orders").headers((headers) -> bearer(headers, token)).exchange();
	}

	private int manage(String method, String endpoint, String token) {
		return this.gateway.mutate()
			.baseUrl("http://localhost:" + this.managementPort + "/actuator/")
			.responseTimeout(Duration.ofSeconds(30))
			.build()
			.method(HttpMethod.valueOf(method))
			.uri(endpoint)
			.headers((headers) -> bearer(headers, token))
			.exchange()
			.expectBody()
			.returnResult()
			.getStatus()
			.value();
	}

	private static void bearer(HttpHeaders headers, String token) {
		if (token != null) {
			headers.set(HttpHeaders.AUTHORIZATION, "Bearer " + token);
		}
	}

	private static String token(String user, String... roles) {
		return DemoTokens.sign(Map.of("sub", user, "roles", List.of(roles)), Instant.now());
	}

}
