package dev.ratelimit.app.demo;

import java.net.InetSocketAddress;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DemoTokenControllerTests {

	@ParameterizedTest
	@ValueSource(strings = { "127.0.0.1", "127.8.8.8", "::1" })
	void callersOnThisHostGetAToken(String address) {
		assertThat(token(false, from(address)).accessToken()).isNotEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "192.0.2.7", "10.0.0.1", "0.0.0.0", "2001:db8::1" })
	void callersOnOtherHostsGetNone(String address) {
		assertRefused(from(address));
	}

	@ParameterizedTest
	@ValueSource(strings = { "X-Forwarded-For", "Forwarded" })
	void callersBehindAProxyOnThisHostGetNone(String header) {
		assertRefused(from("127.0.0.1").header(header, "127.0.0.1"));
	}

	@Test
	void callersWithoutAnAddressGetNone() {
		assertRefused(MockServerHttpRequest.get("/demo/token"));
	}

	@Test
	void callersOnOtherHostsGetATokenWhenRemoteIsOn() {
		assertThat(token(true, from("192.0.2.7")).accessToken()).isNotEmpty();
	}

	@Test
	void tokenSaysWhatWasAskedFor() {
		Jwt jwt = DemoTokens.decoder().decode(token(false, from("127.0.0.1")).accessToken()).block();
		assertThat(jwt.getClaims()).containsEntry("tenant_id", "acme")
			.containsEntry("sub", "ann")
			.containsEntry("tier", "pro")
			.containsEntry("roles", List.of("RATELIMIT_ADMIN"));
		assertThat(jwt.getExpiresAt()).isEqualTo(jwt.getIssuedAt().plus(DemoTokens.LIFETIME));
	}

	@Test
	void claimsThatWereNotAskedForAreLeftOut() {
		String token = new DemoTokenController(new DemoProperties(false))
			.token(null, " ", null, List.of(), from("127.0.0.1").build())
			.getBody()
			.accessToken();
		assertThat(DemoTokens.decoder().decode(token).block().getClaims()).containsOnlyKeys("iat", "exp");
	}

	private static void assertRefused(MockServerHttpRequest.BaseBuilder<?> request) {
		assertThatExceptionOfType(ResponseStatusException.class).isThrownBy(() -> token(false, request))
			.satisfies((ex) -> assertThat(ex.getStatusCode()).isEqualTo(HttpStatus.FORBIDDEN));
	}

	private static MockServerHttpRequest.BaseBuilder<?> from(String address) {
		return MockServerHttpRequest.get("/demo/token").remoteAddress(new InetSocketAddress(address, 50000));
	}

	private static DemoTokenController.Token token(boolean remote, MockServerHttpRequest.BaseBuilder<?> request) {
		return new DemoTokenController(new DemoProperties(remote))
			.token("acme", "ann", "pro", List.of("RATELIMIT_ADMIN"), request.build())
			.getBody();
	}

}
