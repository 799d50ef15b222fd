package dev.ratelimit.web;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;

import dev.ratelimit.web.CallerResolver.Caller;

import static org.assertj.core.api.Assertions.assertThat;

class CallerResolverTests {

	private static final TestCall CALL = TestCall.from("198.51.100.1");

	@Test
	void firstAnswerWins() {
		Identity identity = resolve(CALL, (call) -> null, (call) -> new Caller("acme", "ann", "pro"),
				(call) -> new Caller("other", "bob", null));
		assertThat(identity).isEqualTo(new Identity("acme", "ann", "pro", null, false, "198.51.100.1"));
	}

	@Test
	void withoutAnAnswerTheAuthenticatedNameIsTheUser() {
		TestingAuthenticationToken ann = new TestingAuthenticationToken("ann", "secret", "ROLE_USER");
		assertThat(resolve(CALL.as(ann), (call) -> null).user()).isEqualTo("ann");
		assertThat(resolve(CALL.as(ann), (call) -> new Caller("acme", call.principal().getName(), null)).tenant())
			.isEqualTo("acme");
	}

	@Test
	void tokenIsNotAskedAbout() {
		JwtAuthenticationToken token = new JwtAuthenticationToken(
				new Jwt("token", null, null, Map.of("alg", "none"), Map.of("sub", "ann", "tenant_id", "acme")),
				List.of());
		Identity identity = resolve(CALL.as(token), (call) -> new Caller("other", "bob", "pro"));
		assertThat(identity.tenant()).isEqualTo("acme");
		assertThat(identity.user()).isEqualTo("ann");
		assertThat(identity.tier()).isNull();
	}

	@Test
	void callerOfAFailingResolverIsUnknownAndNotMissing() {
		Identity identity = resolve(CALL.as(() -> "ann"), (call) -> {
			throw new IllegalStateException("secret");
		});
		assertThat(identity.user()).isNull();
		assertThat(identity.failed().principal()).isTrue();
	}

	@Test
	void blankFactsAreMissing() {
		assertThat(resolve(CALL, (call) -> new Caller(" ", "", null)))
			.isEqualTo(Identity.NOBODY.withIp("198.51.100.1", true));
	}

	@Test
	void textShowsNoFact() {
		assertThat(new Caller("acme", "ann", "pro")).hasToString("Caller");
	}

	private static Identity resolve(TestCall call, CallerResolver... callers) {
		IdentityOptions options = IdentityOptions.DEFAULTS;
		return new IdentityResolver(options, new ClientIp(options), new KnownKeys(Map.of(), null), List.of(callers))
			.resolve(call)
			.join();
	}

}
