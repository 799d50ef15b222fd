package dev.ratelimit.app.demo;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpHeaders;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.reactive.server.EntityExchangeResult;
import org.springframework.test.web.reactive.server.WebTestClient;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.app.RateLimitGatewayApplication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The demo's limits from the first request to the refusal, with windows so long that no
 * permit comes back on a slow machine. Every test is a tenant of its own, so that they do
 * not meet in a counter.
 */
@SpringBootTest(classes = RateLimitGatewayApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "management.server.port=0", "ratelimit.policies.demo-public.limits.per-ip.quota=5/d",
				"ratelimit.policies.demo-login.limits.per-ip.quota=3/d",
				"ratelimit.policies.demo-api.limits.per-user.quota=5/d",
				"ratelimit.policies.demo-api.limits.per-tenant.quota=8/d",
				"ratelimit.policies.demo-api.limits.per-ip.quota=1000/d",
				"ratelimit.policies.demo-llm.limits.per-ip.quota=1000/30d burst 5000" })
@ActiveProfiles("demo")
class DemoLimitsTests {

	@Autowired
	private WebTestClient gateway;

	@Autowired
	private RateLimiter limiter;

	@Test
	void allowedResponseSaysWhatIsLeft() {
		HttpHeaders headers = call("/demo/api/orders", token("headers", "ann")).expectStatus()
			.isOk()
			.returnResult(Void.class)
			.getResponseHeaders();
		assertThat(headers.getFirst("X-RateLimit-Limit")).isEqualTo("5");
		assertThat(headers.getFirst("X-RateLimit-Remaining")).isEqualTo("4");
		assertThat(headers.getFirst("X-RateLimit-Reset")).isNotNull();
		assertThat(headers.getFirst("X-RateLimit-Policy")).isEqualTo("demo-api");
		assertThat(headers.getFirst("RateLimit-Policy")).contains("\"per-user\";q=5;w=86400");
		assertThat(headers.getFirst("RateLimit")).startsWith("\"per-user\";r=4;t=");
		assertThat(headers.getFirst(HttpHeaders.RETRY_AFTER)).isNull();
	}

	@Test
	void answerOfTheModelIsSettledAfterItsEstimate() {
		long used = 0;
		for (String path : List.of("/demo/llm", "/demo/llm?stream=true", "/demo/llm")) {
			long before = 5_000 - used;
			await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(remaining()).isEqualTo(before));
			EntityExchangeResult<byte[]> answer = this.gateway.mutate()
				.responseTimeout(Duration.ofSeconds(60))
				.build()
				.get()
				.uri(path)
				.exchange()
				.expectBody()
				.returnResult();
			assertThat(answer.getResponseHeaders().getFirst("X-RateLimit-Remaining"))
				.isEqualTo(Long.toString(before - 400));
			Matcher tokens = Pattern.compile("\"total_tokens\":(\\d+)").matcher(new String(answer.getResponseBody()));
			assertThat(tokens.find()).isTrue();
			used += Long.parseLong(tokens.group(1));
		}
	}

	private long remaining() {
		Decision decision = this.limiter.check(Request.of("demo-llm").with(Dimension.IP, "127.0.0.1").withCost(0))
			.toCompletableFuture()
			.join();
		return decision.remaining();
	}

	@Test
	void refusalIsAProblemThatSaysWhenToComeBack() {
		String token = token("refused", "ann");
		EntityExchangeResult<byte[]> refused = callUntilRefused("/demo/api/orders", token, 5);
		HttpHeaders headers = refused.getResponseHeaders();
		assertThat(headers.getContentType()).hasToString("application/problem+json");
		assertThat(headers.getFirst("X-RateLimit-Remaining")).isEqualTo("0");
		assertThat(headers.getFirst("X-RateLimit-Scope")).isEqualTo("user");
		assertThat(headers.getFirst(HttpHeaders.RETRY_AFTER)).isNotNull();
		assertThat(new String(refused.getResponseBody()))
			.contains("https://iana.org/assignments/http-problem-types#quota-exceeded")
			.contains("\"policy\":\"demo-api\"", "\"limit\":\"per-user\"", "\"scope\":\"user\"", "\"quota\":\"5/d\"");
	}

	@Test
	void anotherTenantIsUnaffected() {
		callUntilRefused("/demo/api/orders", token("loud", "ann"), 5);
		call("/demo/api/orders", token("quiet", "ann")).expectStatus().isOk();
	}

	@Test
	void usersOfATenantShareItsLimit() {
		callUntilRefused("/demo/api/orders", token("shared", "ann"), 5);
		EntityExchangeResult<byte[]> refused = callUntilRefused("/demo/api/orders", token("shared", "bob"), 3);
		assertThat(refused.getResponseHeaders().getFirst("X-RateLimit-Scope")).isEqualTo("tenant");
	}

	@Test
	void planInTheTokenRaisesTheLimit() {
		call("/demo/api/orders", token("plans", "ann")).expectHeader().valueEquals("X-RateLimit-Limit", "5");
		call("/demo/api/orders", token("plans", "bob", "free")).expectHeader().valueEquals("X-RateLimit-Limit", "10");
		call("/demo/api/orders", token("plans", "eve", "pro")).expectHeader().valueEquals("X-RateLimit-Limit", "20");
	}

	@Test
	void exportCostsMore() {
		call("/demo/api/export/all", token("export", "ann", "pro")).expectHeader()
			.valueEquals("X-RateLimit-Remaining", "15");
	}

	@Test
	void headerDoesNotMakeATenant() {
		String token = token("forged", "ann");
		callUntilRefused("/demo/api/orders", token, 5);
		this.gateway.get()
			.uri("/demo/api/orders")
			.headers((headers) -> headers.setBearerAuth(token))
			.header("X-Tenant-Id", "other")
			.header("X-Forwarded-For", "192.0.2.1")
			.exchange()
			.expectStatus()
			.isEqualTo(429);
	}

	@Test
	void publicRouteRefusesAnAddressWithinAFewCalls() {
		EntityExchangeResult<byte[]> refused = callUntilRefused("/demo/public/hello", null, 5);
		assertThat(refused.getResponseHeaders().getFirst("X-RateLimit-Scope")).isEqualTo("ip");
	}

	@Test
	void loginIsStrict() {
		callUntilRefused("/demo/login", null, 3);
	}

	private EntityExchangeResult<byte[]> callUntilRefused(String path, String token, int allowed) {
		for (int i = 0; i < allowed; i++) {
			call(path, token).expectStatus().isOk();
		}
		return call(path, token).expectStatus().isEqualTo(429).expectBody().returnResult();
	}

	private WebTestClient.ResponseSpec call(String path, String token) {
		return this.gateway.get().uri(path).headers((headers) -> {
			if (token != null) {
				headers.setBearerAuth(token);
			}
		}).exchange();
	}

	private static String token(String tenant, String user) {
		return DemoTokens.sign(Map.of("tenant_id", tenant, "sub", user), Instant.now());
	}

	private static String token(String tenant, String user, String tier) {
		return DemoTokens.sign(Map.of("tenant_id", tenant, "sub", user, "tier", tier), Instant.now());
	}

}
