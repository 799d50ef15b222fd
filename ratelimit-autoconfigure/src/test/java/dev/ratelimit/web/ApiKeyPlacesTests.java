package dev.ratelimit.web;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;

import dev.ratelimit.ApiKeyDigest;
import dev.ratelimit.Dimension;
import dev.ratelimit.web.ApiKeyVerifier.VerifiedKey;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * API keys in a header, a parameter or a claim, and their plans by pattern.
 */
class ApiKeyPlacesTests {

	private static final TestCall CALL = TestCall.from("198.51.100.1");

	private static final Map<String, String> TIERS = Map.of("sk_*", "free", "sk_prod_*", "pro", "*_root", "root");

	@Test
	void keyIsFoundInEachPlace() {
		assertThat(resolve(CALL.header("X-API-Key", "sk_free_1")).apiKey()).isEqualTo("sk_free_1");
		assertThat(resolve(CALL.parameter("api_key", "sk_free_1")).apiKey()).isEqualTo("sk_free_1");
		assertThat(resolve(CALL.as(token("sk_free_1"))).apiKey()).isEqualTo("sk_free_1");
		assertThat(resolve(CALL.header("X-API-Key", "sk_free_1").parameter("api_key", "sk_free_1")).apiKey())
			.isEqualTo("sk_free_1");
	}

	@Test
	void parameterAndClaimAreOffByDefault() {
		IdentityResolver resolver = new IdentityResolver(IdentityOptions.DEFAULTS,
				new ClientIp(IdentityOptions.DEFAULTS), new KnownKeys(Map.of(), null), List.of());
		assertThat(resolver.resolve(CALL.parameter("api_key", "sk_free_1").as(token("sk_free_1"))).join().apiKey())
			.isNull();
	}

	@Test
	void twoDifferentKeysAreNone() {
		TestCall call = CALL.header("X-API-Key", "sk_free_1");
		assertThat(resolve(call.parameter("api_key", "sk_free_2")).apiKey()).isNull();
		assertThat(resolve(call.as(token("sk_free_2"))).apiKey()).isNull();
		assertThat(resolve(CALL.parameter("api_key", "sk_free_1").as(token("sk_free_2"))).apiKey()).isNull();
		assertThat(resolve(CALL.parameter("api_key", "sk_free_1", "sk_free_2")).apiKey()).isNull();
	}

	@Test
	void onlyAKnownKeyAndTheKeyOfATokenAreVerified() {
		assertThat(resolve(CALL.parameter("api_key", "unknown")).apiKeyVerified()).isFalse();
		assertThat(resolve(CALL.parameter("api_key", "sk_free_1")).apiKeyVerified()).isTrue();
		assertThat(resolve(CALL.as(token("unknown"))).apiKeyVerified()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "sk_free_1, free", "sk_prod_1, pro", "sk_prod_root, pro", "x_root, root", "plain,", "own, gold" })
	void verifiedKeyHasThePlanOfTheLongestPattern(String key, String tier) {
		assertThat(resolve(CALL.header("X-API-Key", key)).tier()).isEqualTo(tier);
	}

	@Test
	void unverifiedKeyHasNoPlan() {
		assertThat(resolve(CALL.header("X-API-Key", "sk_prod_forged")).tier()).isNull();
	}

	private static Identity resolve(TestCall call) {
		IdentityOptions options = new IdentityOptions("tenant_id", "sub", "tier", "X-API-Key", "api_key", "key", TIERS,
				Map.of(), 0, List.of(), false, 64, IdentityOptions.DEFAULTS.hash(), List.of());
		Map<String, VerifiedKey> known = Map.of(digest("sk_free_1"), new VerifiedKey("acme", null), digest("sk_prod_1"),
				new VerifiedKey("acme", ""), digest("sk_prod_root"), new VerifiedKey("acme", null), digest("x_root"),
				new VerifiedKey("acme", null), digest("plain"), new VerifiedKey("acme", null), digest("own"),
				new VerifiedKey("acme", "gold"));
		return new IdentityResolver(options, new ClientIp(options),
				new KnownKeys(known, null, Duration.ofSeconds(1), () -> 1), List.of())
			.resolve(call)
			.join();
	}

	private static String digest(String key) {
		return ApiKeyDigest.presented(Dimension.API_KEY, key);
	}

	private static JwtAuthenticationToken token(String key) {
		return new JwtAuthenticationToken(
				new Jwt("token", null, null, Map.of("alg", "none"), Map.of("sub", "ann", "key", key)), List.of());
	}

}
