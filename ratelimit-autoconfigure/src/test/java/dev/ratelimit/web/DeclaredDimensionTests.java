package dev.ratelimit.web;

import java.math.BigDecimal;
import java.net.InetAddress;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;

import dev.ratelimit.web.DeclaredDimension.Source;

import static org.assertj.core.api.Assertions.assertThat;

class DeclaredDimensionTests {

	@Test
	void claimIsFoundByItsExactNameBeforeItsPath() {
		assertThat(claim("org.id", Map.of("org", Map.of("id", "nested")))).isEqualTo("nested");
		assertThat(claim("org.id", Map.of("org.id", "exact", "org", Map.of("id", "nested")))).isEqualTo("exact");
		assertThat(claim("https://example.com/org", Map.of("https://example.com/org", "dots"))).isEqualTo("dots");
		assertThat(claim("org.id", Map.of("org", "text"))).isNull();
		assertThat(claim("org", Map.of("sub", "ann"))).isNull();
	}

	static Stream<Arguments> numbers() {
		return Stream.of(Arguments.of(42, "42"), Arguments.of(42L, "42"), Arguments.of(4.5, "4.5"),
				Arguments.of(42.0, "42"), Arguments.of(1e10, "10000000000"), Arguments.of(-7, "-7"),
				Arguments.of(new BigDecimal("12.50"), "12.5"));
	}

	@ParameterizedTest
	@MethodSource("numbers")
	void numberBecomesDecimalText(Number value, String text) {
		assertThat(claim("org", Map.of("org", value))).isEqualTo(text);
	}

	static Stream<Object> others() {
		return Stream.of(true, List.of("a"), Map.of("a", "b"), Double.NaN, Double.POSITIVE_INFINITY,
				new BigDecimal("1e1000000"));
	}

	@ParameterizedTest
	@MethodSource("others")
	void anyOtherClaimIsMissing(Object value) {
		assertThat(claim("org", Map.of("org", value))).isNull();
	}

	@Test
	void onlyClaimsOfVerifiedTokensAreFacts() {
		DeclaredDimension claim = new DeclaredDimension(Source.CLAIM, "sub");
		TestCall call = TestCall.from("10.0.0.1");
		assertThat(claim.resolve(call)).isNull();
		assertThat(claim.resolve(call.as(() -> "ann"))).isNull();
		assertThat(claim.resolve(call.as(new TestingAuthenticationToken("ann", "secret")))).isNull();
		JwtAuthenticationToken unverified = token(Map.of("sub", "ann"));
		unverified.setAuthenticated(false);
		assertThat(claim.resolve(call.as(unverified))).isNull();
	}

	@Test
	void onlyClaimsAreVerified() {
		assertThat(Stream.of(Source.values()).filter((source) -> new DeclaredDimension(source, "x").verified()))
			.containsExactly(Source.CLAIM);
	}

	@ParameterizedTest
	@CsvSource({ "shop.example, shop.example", "SHOP.example:8080, shop.example", "shop.example., shop.example",
			"[::1]:8080, [::1]", "[::1], [::1]" })
	void hostHasNoPortAndNoCase(String header, String host) {
		DeclaredDimension dimension = new DeclaredDimension(Source.HOST, "");
		assertThat(dimension.resolve(TestCall.from("10.0.0.1").header("Host", header))).isEqualTo(host);
		assertThat(dimension.resolve(TestCall.from("10.0.0.1").header("Host", header, header))).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "PROPFIND", "get", "" })
	void unknownMethodIsOther(String method) {
		assertThat(new DeclaredDimension(Source.METHOD, "").resolve(withMethod(method))).isEqualTo("other");
		assertThat(new DeclaredDimension(Source.METHOD, "").resolve(withMethod("PATCH"))).isEqualTo("PATCH");
	}

	@Test
	void parametersAreDecoded() {
		assertThat(QueryParameters.values("a=1&%62=x+y%2F&b=&c", "b")).containsExactly("x y/", "");
		assertThat(QueryParameters.values("a=1&c", "c")).containsExactly("");
		assertThat(QueryParameters.values("a=%zz", "a")).containsExactly("%zz");
		assertThat(QueryParameters.values("", "a")).isEmpty();
	}

	private static String claim(String name, Map<String, Object> claims) {
		return new DeclaredDimension(Source.CLAIM, name).resolve(TestCall.from("10.0.0.1").as(token(claims)));
	}

	private static JwtAuthenticationToken token(Map<String, Object> claims) {
		return new JwtAuthenticationToken(new Jwt("token", null, null, Map.of("alg", "none"), claims), List.of());
	}

	private static WebCall withMethod(String method) {
		return new WebCall() {

			@Override
			public String method() {
				return method;
			}

			@Override
			public String rawPath() {
				return "/";
			}

			@Override
			public String route() {
				return null;
			}

			@Override
			public List<String> headers(String name) {
				return List.of();
			}

			@Override
			public InetAddress remoteAddress() {
				return null;
			}

			@Override
			public Principal principal() {
				return null;
			}

		};
	}

}
