package dev.ratelimit.web;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.oauth2.core.oidc.OidcIdToken;
import org.springframework.security.oauth2.core.oidc.user.DefaultOidcUser;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.security.web.authentication.preauth.PreAuthenticatedAuthenticationToken;

import dev.ratelimit.Dimension;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

class SecurityCallersTests {

	/** Of CN=ann, O=acme. */
	private static final String CERTIFICATE = """
			-----BEGIN CERTIFICATE-----
			MIIBUzCB+qADAgECAgkA3x52nqVAei8wCgYIKoZIzj0EAwIwHTENMAsGA1UEChME
			YWNtZTEMMAoGA1UEAxMDYW5uMCAXDTI2MTExODE4MDkwNFoYDzIxMjYxMDI1MTgw
			OTA0WjAdMQ0wCwYDVQQKEwRhY21lMQwwCgYDVQQDEwNhbm4wWTATBgcqhkjOPQIB
			BggqhkjOPQMBBwNCAASCQeQyBlS1W6VWI6aKIY4mB0p4iHQFLlc2979SeQq1Q5r4
			mFXxB9Xe0+uqR7zSv9IMm0npvMXCQLwlKNMSnFcSoyEwHzAdBgNVHQ4EFgQUVYbt
			WTJglH4nJkUp3M0X1jp8DRowCgYIKoZIzj0EAwIDSAAwRQIhAPPa2CRCz3K4Bs9b
			6fLevFCT8jDABJXYuNhcqJWFxs3tAiAWc5FDQjRgC3VoDmghY+CTCads0eYSax31
			J+2bcfPO1Q==
			-----END CERTIFICATE-----
			""";

	private static final TestCall CALL = TestCall.from("198.51.100.1");

	private static final Principal LOGIN = new TestingAuthenticationToken(
			new DefaultOidcUser(AuthorityUtils.createAuthorityList("ROLE_RATELIMIT_TENANT_ADMIN"),
					new OidcIdToken("token", Instant.EPOCH, Instant.MAX,
							Map.of("sub", "ann", "tenant_id", "acme", "tier", "pro"))),
			"", "ROLE_RATELIMIT_TENANT_ADMIN");

	private static final Principal USER = new TestingAuthenticationToken(new User("ann", "secret", List.of()), "",
			"ROLE_USER");

	@Test
	void oidcLoginHasTheClaimsOfItsUser() {
		assertThat(identity(LOGIN, CallerSource.OIDC))
			.isEqualTo(new Identity("acme", "ann", "pro", null, false, "198.51.100.1"));
		assertThat(identity(LOGIN).tenant()).isNull();
	}

	@Test
	void userOfTheApplicationIsTheUser() {
		CallerResolver.Caller caller = SecurityCallers.of(CallerSource.USER_DETAILS, IdentityOptions.DEFAULTS)
			.resolve(CALL.as(USER));
		assertThat(caller).isEqualTo(new CallerResolver.Caller(null, "ann", null, Set.of("ROLE_USER")));
	}

	@Test
	void organizationOfACertificateIsTheTenant() throws CertificateException {
		Principal certified = new PreAuthenticatedAuthenticationToken("ann", certificate(), List.of());
		assertThat(identity(certified, CallerSource.X509).tenant()).isEqualTo("acme");
		assertThat(identity(certified, CallerSource.X509).user()).isEqualTo("ann");
	}

	@Test
	void otherKindsOfAuthenticationAreLeftToTheNextResolver() {
		assertThat(identity(USER, CallerSource.OIDC, CallerSource.X509).user()).isEqualTo("ann");
		assertThat(identity(LOGIN, CallerSource.X509, CallerSource.USER_DETAILS, CallerSource.OIDC).tenant())
			.isEqualTo("acme");
		assertThat(identity(() -> "ann", CallerSource.values()).user()).isEqualTo("ann");
		TestingAuthenticationToken anybody = new TestingAuthenticationToken(new User("ann", "", List.of()), "");
		anybody.setAuthenticated(false);
		assertThat(identity(anybody, CallerSource.values()).user()).isNull();
	}

	@Test
	void tokenAndBeansOfTheApplicationComeFirst() {
		Principal token = new JwtAuthenticationToken(
				new Jwt("token", null, null, Map.of("alg", "none"), Map.of("sub", "bob", "tenant_id", "other")),
				List.of());
		assertThat(identity(token, CallerSource.values()).tenant()).isEqualTo("other");
		IdentityOptions options = options(CallerSource.OIDC);
		Identity identity = new IdentityResolver(options, new ClientIp(options), new KnownKeys(Map.of(), null),
				List.of((call) -> new CallerResolver.Caller("mine", null, null)))
			.resolve(CALL.as(LOGIN))
			.join();
		assertThat(identity.tenant()).isEqualTo("mine");
	}

	@Test
	void selfServiceKnowsTenantAndRolesOfTheCaller() {
		VerifiedTenant tenant = VerifiedTenant.of(LOGIN, options(CallerSource.OIDC), List.of());
		assertThat(tenant).isEqualTo(new VerifiedTenant("acme", "pro", Set.of("ROLE_RATELIMIT_TENANT_ADMIN")));
		assertThat(VerifiedTenant.of(LOGIN, IdentityOptions.DEFAULTS, List.of())).isNull();
		assertThat(VerifiedTenant.of(null, options(CallerSource.values()), List.of())).isNull();
		VerifiedTenant named = VerifiedTenant.of(USER, IdentityOptions.DEFAULTS,
				List.of((call) -> new CallerResolver.Caller("mine", null, null, Set.of("ROLE_A"))));
		assertThat(named).isEqualTo(new VerifiedTenant("mine", null, Set.of("ROLE_A")));
	}

	@Test
	void claimsOfALoginAreReadWhereOidcIsConfigured() {
		assertThat(plan(LOGIN, CallerSource.OIDC)).isEqualTo("pro");
		assertThat(plan(LOGIN)).isNull();
		assertThat(plan(LOGIN, CallerSource.X509)).isNull();
		TestingAuthenticationToken anybody = new TestingAuthenticationToken(
				((TestingAuthenticationToken) LOGIN).getPrincipal(), "");
		anybody.setAuthenticated(false);
		assertThat(plan(anybody, CallerSource.OIDC)).isNull();
	}

	@Test
	void claimOfATokenIsNotTakenFromALogin() {
		Principal token = new JwtAuthenticationToken(
				new Jwt("token", null, null, Map.of("alg", "none"), Map.of("sub", "bob", "tier", "free")), List.of());
		assertThat(plan(token, CallerSource.OIDC)).isEqualTo("free");
	}

	@Test
	void apiKeyInAClaimOfALoginIsVerified() {
		IdentityOptions options = new IdentityOptions("tenant_id", "sub", "tier", "", "", "tier", Map.of(), Map.of(), 0,
				List.of(), false, 64, IdentityOptions.DEFAULTS.hash(), List.of(CallerSource.OIDC));
		Identity identity = new IdentityResolver(options, new ClientIp(options), new KnownKeys(Map.of(), null),
				List.of())
			.resolve(CALL.as(LOGIN))
			.join();
		assertThat(identity.apiKey()).isEqualTo("pro");
		assertThat(identity.apiKeyVerified()).isTrue();
	}

	/** The dimension 'plan', from the claim 'tier'. */
	private static @Nullable String plan(Principal principal, CallerSource... sources) {
		Dimension plan = new Dimension("plan");
		PolicySet policies = PolicySet.of(Policy.builder("orders").limit("per-plan", List.of(plan), "1/s").build());
		RequestResolver resolver = new RequestResolver(options(sources), "local",
				Map.of("plan", new DeclaredDimension(DeclaredDimension.Source.CLAIM, "tier")), null, List.of(),
				() -> policies);
		Request request = resolver.resolve(CALL.as(principal), "orders", null, Map.of()).join();
		return request.dimensions().get(plan);
	}

	private static X509Certificate certificate() throws CertificateException {
		return (X509Certificate) CertificateFactory.getInstance("X.509")
			.generateCertificate(new ByteArrayInputStream(CERTIFICATE.getBytes(StandardCharsets.US_ASCII)));
	}

	private static Identity identity(Principal principal, CallerSource... sources) {
		IdentityOptions options = options(sources);
		return new IdentityResolver(options, new ClientIp(options), new KnownKeys(Map.of(), null), List.of())
			.resolve(CALL.as(principal))
			.join();
	}

	private static IdentityOptions options(CallerSource... sources) {
		return new IdentityOptions("tenant_id", "sub", "tier", "", "", "", Map.of(), Map.of(), 0, List.of(), false, 64,
				IdentityOptions.DEFAULTS.hash(), Arrays.asList(sources));
	}

}
