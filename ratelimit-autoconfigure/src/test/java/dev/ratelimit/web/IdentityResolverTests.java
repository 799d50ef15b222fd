package dev.ratelimit.web;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.oauth2.core.DefaultOAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.OAuth2AccessToken;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.BearerTokenAuthentication;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;

import dev.ratelimit.web.ApiKeyVerifier.VerifiedKey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@ExtendWith(OutputCaptureExtension.class)
class IdentityResolverTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final TestCall CALL = TestCall.from("198.51.100.1");

	private static final Identity NOBODY = Identity.NOBODY.withIp("198.51.100.1", true);

	private final AtomicLong nanos = new AtomicLong(1);

	@Test
	void withoutAPrincipalOnlyTheAddressIsKnown() {
		assertThat(resolve(CALL)).isEqualTo(NOBODY);
	}

	@Test
	void noHeaderSelectsAUserATenantOrATier() {
		TestCall call = CALL.header("X-Tenant-Id", "acme")
			.header("tenant_id", "acme")
			.header("sub", "ann")
			.header("tier", "pro")
			.header("X-User", "ann");
		assertThat(resolve(call)).isEqualTo(NOBODY);
	}

	@Test
	void claimsOfAVerifiedTokenNameTheCaller() {
		Identity identity = resolve(CALL.as(jwt(Map.of("tenant_id", "acme", "sub", "ann", "tier", "pro"))));
		assertThat(identity).isEqualTo(new Identity("acme", "ann", "pro", null, false, "198.51.100.1"));
	}

	@Test
	void claimsCanHaveOtherNames() {
		IdentityOptions options = TestCall.options("org", "uid", "plan", "X-API-Key", Map.of(), 0, List.of());
		Principal principal = jwt(Map.of("org", "acme", "uid", "ann", "plan", "pro", "tenant_id", "x", "sub", "x"));
		Identity identity = resolver(options, null).resolve(CALL.as(principal)).join();
		assertThat(identity).isEqualTo(new Identity("acme", "ann", "pro", null, false, "198.51.100.1"));
	}

	@Test
	void opaqueTokensHaveClaimsToo() {
		Map<String, Object> attributes = Map.of("tenant_id", "acme", "sub", "ann");
		OAuth2AccessToken token = new OAuth2AccessToken(OAuth2AccessToken.TokenType.BEARER, "t", Instant.EPOCH,
				Instant.MAX);
		BearerTokenAuthentication principal = new BearerTokenAuthentication(
				new DefaultOAuth2AuthenticatedPrincipal(attributes, List.of()), token, List.of());
		Identity identity = resolve(CALL.as(principal));
		assertThat(identity).isEqualTo(new Identity("acme", "ann", null, null, false, "198.51.100.1"));
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " ", "\t\n" })
	void blankClaimsAreMissing(String blank) {
		Map<String, Object> claims = new HashMap<>(Map.of("exp", Instant.MAX));
		claims.put("tenant_id", blank);
		claims.put("sub", blank);
		claims.put("tier", blank);
		assertThat(resolve(CALL.as(jwt(claims)))).isEqualTo(NOBODY);
	}

	@Test
	void claimsThatAreNoTextAreMissing() {
		Principal principal = jwt(Map.of("tenant_id", 42, "sub", List.of("ann"), "tier", Map.of("name", "pro")));
		assertThat(resolve(CALL.as(principal))).isEqualTo(NOBODY);
	}

	@Test
	void anonymousIsNobody() {
		Principal principal = new AnonymousAuthenticationToken("key", "anonymousUser",
				AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS"));
		assertThat(resolve(CALL.as(principal))).isEqualTo(NOBODY);
	}

	@Test
	void whoIsNotAuthenticatedIsNobody() {
		assertThat(resolve(CALL.as(UsernamePasswordAuthenticationToken.unauthenticated("ann", "secret"))))
			.isEqualTo(NOBODY);
		JwtAuthenticationToken token = jwt(Map.of("sub", "ann"));
		token.setAuthenticated(false);
		assertThat(resolve(CALL.as(token))).isEqualTo(NOBODY);
	}

	@Test
	void anyOtherAuthenticationGivesItsName() {
		Principal principal = UsernamePasswordAuthenticationToken.authenticated("ann", null, List.of());
		assertThat(resolve(CALL.as(principal)).user()).isEqualTo("ann");
		assertThat(resolve(CALL.as(principal)).tenant()).isNull();
	}

	@Test
	void aPrincipalOfTheContainerGivesItsName() {
		assertThat(resolve(CALL.as(() -> "ann")).user()).isEqualTo("ann");
		assertThat(resolve(CALL.as(() -> " ")).user()).isNull();
		assertThat(resolve(CALL.as(() -> null)).user()).isNull();
	}

	@Test
	void anUnknownKeyIsMerelyClaimed() {
		Identity identity = resolve(CALL.header("X-API-Key", "sk_1"));
		assertThat(identity.apiKey()).isEqualTo("sk_1");
		assertThat(identity.apiKeyVerified()).isFalse();
	}

	@Test
	void aBlankKeyAndOneOfTwoDifferentKeysAreMissing() {
		assertThat(resolve(CALL.header("X-API-Key", "  ")).apiKey()).isNull();
		assertThat(resolve(CALL.header("X-API-Key", "sk_1", "sk_2")).apiKey()).isNull();
		assertThat(resolve(CALL.header("X-API-Key", "sk_1", "sk_1", "")).apiKey()).isNull();
		assertThat(resolve(CALL.header("X-API-Key", "sk_1", "sk_1")).apiKey()).isEqualTo("sk_1");
	}

	@Test
	void withoutAHeaderNameNoKeyIsRead() {
		IdentityOptions options = TestCall.options("tenant_id", "sub", "tier", "", Map.of(), 0, List.of());
		assertThat(resolver(options, null).resolve(CALL.header("", "sk_1")).join()).isEqualTo(NOBODY);
	}

	@Test
	void aConfiguredDigestVerifiesAKey() {
		IdentityResolver resolver = resolver(known("sk_1", new VerifiedKey("acme", "pro")), (key) -> {
			throw new AssertionError("needs no verifier");
		});
		Identity identity = resolver.resolve(CALL.header("X-API-Key", "sk_1")).join();
		assertThat(identity).isEqualTo(new Identity("acme", null, "pro", "sk_1", true, "198.51.100.1"));
	}

	@Test
	void theDigestItselfIsNoKey() {
		IdentityResolver resolver = resolver(known("sk_1", new VerifiedKey("acme", "pro")), null);
		for (String key : List.of(sha256("sk_1"), sha256("sk_1").substring(7), "SK_1", "sk_1 ")) {
			assertThat(resolver.resolve(CALL.header("X-API-Key", key)).join().apiKeyVerified()).isFalse();
		}
	}

	@Test
	void aVerifierVerifiesKeysThatAreNotConfigured() {
		ApiKeyVerifier verifier = (key) -> CompletableFuture
			.completedFuture(key.equals("sk_2") ? new VerifiedKey("beta", null) : null);
		IdentityResolver resolver = resolver(known("sk_1", new VerifiedKey("acme", "pro")), verifier);
		assertThat(resolver.resolve(CALL.header("X-API-Key", "sk_2")).join())
			.isEqualTo(new Identity("beta", null, null, "sk_2", true, "198.51.100.1"));
		assertThat(resolver.resolve(CALL.header("X-API-Key", "sk_3")).join().apiKeyVerified()).isFalse();
	}

	@Test
	void aTokenBeatsAKey() {
		IdentityResolver resolver = resolver(known("sk_1", new VerifiedKey("acme", "pro")), null);
		TestCall call = CALL.header("X-API-Key", "sk_1");
		Identity both = resolver.resolve(call.as(jwt(Map.of("tenant_id", "acme", "tier", "free")))).join();
		assertThat(both.tenant()).isEqualTo("acme");
		assertThat(both.tier()).isEqualTo("free");
		Identity user = resolver.resolve(call.as(jwt(Map.of("sub", "ann")))).join();
		assertThat(user).isEqualTo(new Identity("acme", "ann", "pro", "sk_1", true, "198.51.100.1"));
	}

	@Test
	void anotherTenantsKeyIsNoVerifiedFactAndItsTierIsNotTaken() {
		IdentityResolver resolver = resolver(known("sk_1", new VerifiedKey("acme", "pro")), null);
		Identity identity = resolver.resolve(CALL.header("X-API-Key", "sk_1").as(jwt(Map.of("tenant_id", "beta"))))
			.join();
		assertThat(identity.tenant()).isEqualTo("beta");
		assertThat(identity.tier()).isNull();
		assertThat(identity.apiKeyVerified()).isFalse();
	}

	@Test
	void aVerifierThatThrowsWhateverThereIsHoldsUpNoRequest() {
		ApiKeyVerifier verifier = (key) -> {
			throw sneaky(new java.io.IOException("cannot verify"));
		};
		IdentityResolver resolver = resolver(IdentityOptions.DEFAULTS, verifier, MINUTE);
		for (int i = 0; i < 2; i++) {
			Identity identity = resolver.resolve(CALL.header("X-API-Key", "sk_secret")).join();
			assertThat(identity.failed().apiKey()).isTrue();
		}
	}

	/** As Kotlin throws what Java would have to declare. */
	@SuppressWarnings("unchecked")
	private static <T extends Throwable> RuntimeException sneaky(Throwable failure) throws T {
		throw (T) failure;
	}

	@Test
	void aFailingVerifierIsLoggedOnceWithoutTheKey(CapturedOutput output) {
		AtomicInteger calls = new AtomicInteger();
		ApiKeyVerifier verifier = (key) -> {
			if (calls.getAndIncrement() == 0) {
				throw new IllegalStateException("cannot verify " + key);
			}
			return CompletableFuture.failedFuture(new IllegalStateException("cannot verify " + key));
		};
		IdentityResolver resolver = resolver(IdentityOptions.DEFAULTS, verifier, MINUTE);
		for (int i = 0; i < 3; i++) {
			Identity identity = resolver.resolve(CALL.header("X-API-Key", "sk_secret")).join();
			assertThat(identity.apiKey()).isEqualTo("sk_secret");
			assertThat(identity.apiKeyVerified()).isFalse();
			assertThat(identity.failed().apiKey()).isTrue();
			later(Duration.ofSeconds(1));
		}
		assertThat(calls).hasValue(3);
		assertThat(output.getOut().split("API key verifier failed", -1)).hasSize(2);
		assertThat(output).doesNotContain("sk_secret");
	}

	@Test
	void aVerifierThatAnswersNothingOverflowsOrNeverAnswersHasFailed() {
		CompletableFuture<VerifiedKey> pending = new CompletableFuture<>();
		List<ApiKeyVerifier> verifiers = List.of((key) -> null, (key) -> pending, (key) -> {
			throw new StackOverflowError();
		});
		for (ApiKeyVerifier verifier : verifiers) {
			IdentityResolver resolver = resolver(IdentityOptions.DEFAULTS, verifier, Duration.ofMillis(1));
			Identity identity = resolver.resolve(CALL.header("X-API-Key", "sk_1")).join();
			assertThat(identity.apiKeyVerified()).isFalse();
			assertThat(identity.failed().apiKey()).isTrue();
		}
		assertThat(pending).isNotDone();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatTheVerifierSaysHoldsForFiveSeconds(boolean known) {
		AtomicInteger calls = new AtomicInteger();
		IdentityResolver resolver = resolver(IdentityOptions.DEFAULTS, (key) -> {
			calls.incrementAndGet();
			return CompletableFuture.completedFuture(known ? new VerifiedKey("acme", null) : null);
		}, MINUTE);
		for (int i = 0; i < 5; i++) {
			Identity identity = resolver.resolve(CALL.header("X-API-Key", "sk_1")).join();
			assertThat(identity.apiKeyVerified()).isEqualTo(known);
			assertThat(identity.failed().apiKey()).isFalse();
			later(Duration.ofSeconds(1).minusMillis(1));
		}
		assertThat(calls).hasValue(1);
		resolver.resolve(CALL.header("X-API-Key", "sk_2")).join();
		assertThat(calls).hasValue(2);
		later(Duration.ofMillis(6));
		resolver.resolve(CALL.header("X-API-Key", "sk_1")).join();
		assertThat(calls).hasValue(3);
	}

	@Test
	void aFailureHoldsForASecond() {
		AtomicInteger calls = new AtomicInteger();
		IdentityResolver resolver = resolver(IdentityOptions.DEFAULTS,
				(key) -> (calls.getAndIncrement() == 0) ? CompletableFuture.failedFuture(new IllegalStateException())
						: CompletableFuture.completedFuture(new VerifiedKey("acme", null)),
				MINUTE);
		TestCall call = CALL.header("X-API-Key", "sk_1");
		assertThat(resolver.resolve(call).join().failed().apiKey()).isTrue();
		later(Duration.ofMillis(999));
		assertThat(resolver.resolve(call).join().failed().apiKey()).isTrue();
		assertThat(calls).hasValue(1);
		later(Duration.ofMillis(2));
		assertThat(resolver.resolve(call).join().apiKeyVerified()).isTrue();
	}

	@Test
	void requestsThatComeMeanwhileShareOneVerification() {
		AtomicInteger calls = new AtomicInteger();
		CompletableFuture<VerifiedKey> pending = new CompletableFuture<>();
		IdentityResolver resolver = resolver(IdentityOptions.DEFAULTS, (key) -> {
			calls.incrementAndGet();
			return pending;
		}, MINUTE);
		List<CompletableFuture<Identity>> identities = Stream
			.generate(() -> resolver.resolve(CALL.header("X-API-Key", "sk_1")))
			.limit(10)
			.toList();
		pending.complete(new VerifiedKey("acme", null));
		assertThat(identities).allSatisfy((identity) -> assertThat(identity.join().tenant()).isEqualTo("acme"));
		assertThat(calls).hasValue(1);
	}

	@Test
	void answersAboutKeysAreBounded() {
		AtomicInteger calls = new AtomicInteger();
		IdentityResolver resolver = resolver(IdentityOptions.DEFAULTS, (key) -> {
			calls.incrementAndGet();
			return CompletableFuture.completedFuture(null);
		}, MINUTE);
		for (int round = 0; round < 2; round++) {
			for (int i = 0; i < 20_000; i++) {
				resolver.resolve(CALL.header("X-API-Key", "sk_" + i)).join();
			}
		}
		assertThat(calls.get()).isGreaterThanOrEqualTo(30_000);
	}

	@Test
	void aPrincipalThatFailsCannotBeTold() {
		Identity identity = resolve(CALL.as(() -> {
			throw new IllegalStateException("ann");
		}));
		assertThat(identity).isEqualTo(Identity.FAILED.withIp("198.51.100.1", true));
		assertThat(identity.failed().principal()).isTrue();
	}

	@Test
	void aVerifierMayAnswerLater() {
		CompletableFuture<VerifiedKey> pending = new CompletableFuture<>();
		IdentityResolver resolver = resolver(IdentityOptions.DEFAULTS, (key) -> pending, MINUTE);
		CompletableFuture<Identity> identity = resolver.resolve(CALL.header("X-API-Key", "sk_1"));
		assertThat(identity).isNotDone();
		pending.complete(new VerifiedKey("acme", " "));
		assertThat(identity.join()).isEqualTo(new Identity("acme", null, null, "sk_1", true, "198.51.100.1"));
	}

	@Test
	void hostileKeysAreOnlyValues() {
		char[] long8k = new char[8_192];
		Arrays.fill(long8k, 'x');
		IdentityResolver resolver = resolver(known("sk_1", new VerifiedKey("acme", "pro")), null);
		for (String key : List.of(new String(long8k), "{}", "\0\u0001\u001f", "a\r\nX-Evil: 1", "sha256:", "\ud800")) {
			Identity identity = resolver.resolve(CALL.header("X-API-Key", key)).join();
			assertThat(identity.apiKey()).isEqualTo(key);
			assertThat(identity.apiKeyVerified()).isFalse();
		}
	}

	@Test
	void textOfAnIdentityHoldsNoValue() {
		assertThat(new Identity("acme", "ann", "pro", "sk_1", true, "1.2.3.4").toString()).doesNotContain("acme", "ann",
				"pro", "sk_1", "1.2.3.4");
	}

	@Test
	void digestsMayBeInCapitals() {
		IdentityOptions options = TestCall.options("t", "s", "p", "X-API-Key",
				Map.of(sha256("sk_1").toUpperCase(Locale.ROOT), new VerifiedKey("acme", null)), 0, List.of());
		Identity identity = resolver(options, null).resolve(CALL.header("X-API-Key", "sk_1")).join();
		assertThat(identity.apiKeyVerified()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "sk_live_secret", "sha256:sk_live_secret", "sha256:", "sha256:9f86d0", "" })
	void whatIsNoDigestIsRefusedWithoutBeingShown(String text) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new KnownKeys(Map.of(text, new VerifiedKey(null, null)), null))
			.withMessageContaining("sha256:<64 hex digits>")
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("sk_live_secret"));
	}

	@Test
	void hopsAreNotNegative() {
		assertThatIllegalArgumentException().isThrownBy(() -> new ClientIp(ClientIpTests.options(-1)))
			.withMessageContaining("trusted-hops");
	}

	private static IdentityResolver resolver(IdentityOptions options, ApiKeyVerifier verifier) {
		return new IdentityResolver(options, new ClientIp(options), new KnownKeys(options.apiKeys(), verifier),
				List.of());
	}

	private IdentityResolver resolver(IdentityOptions options, ApiKeyVerifier verifier, Duration timeout) {
		return new IdentityResolver(options, new ClientIp(options),
				new KnownKeys(options.apiKeys(), verifier, timeout, this.nanos::get), List.of());
	}

	private static Identity resolve(TestCall call) {
		return resolver(IdentityOptions.DEFAULTS, null).resolve(call).join();
	}

	private void later(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

	private static JwtAuthenticationToken jwt(Map<String, Object> claims) {
		Map<String, Object> all = new HashMap<>(claims);
		all.putIfAbsent("iss", "issuer");
		Jwt.Builder jwt = Jwt.withTokenValue("token").header("alg", "none").claims((target) -> target.putAll(all));
		return new JwtAuthenticationToken(jwt.build(), List.of());
	}

	private static IdentityOptions known(String key, VerifiedKey verified) {
		return TestCall.options("tenant_id", "sub", "tier", "X-API-Key", Map.of(sha256(key), verified), 0, List.of());
	}

	private static String sha256(String key) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
			return "sha256:" + HexFormat.of().formatHex(digest);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
