package dev.ratelimit.app.demo;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

import com.nimbusds.jose.jwk.source.ImmutableSecret;
import org.springframework.security.oauth2.jose.jws.MacAlgorithm;
import org.springframework.security.oauth2.jwt.JwsHeader;
import org.springframework.security.oauth2.jwt.JwtClaimsSet;
import org.springframework.security.oauth2.jwt.JwtEncoder;
import org.springframework.security.oauth2.jwt.JwtEncoderParameters;
import org.springframework.security.oauth2.jwt.NimbusJwtEncoder;
import org.springframework.security.oauth2.jwt.NimbusReactiveJwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;

/**
 * Signs and verifies the demo's tokens. The key is part of the source and the same in
 * every instance, so that a token of one is good at all; it protects nothing.
 */
final class DemoTokens {

	static final Duration LIFETIME = Duration.ofHours(1);

	private static final SecretKey KEY = new SecretKeySpec(
			"published demo key: it protects nothing".getBytes(StandardCharsets.US_ASCII), "HmacSHA256");

	private static final JwtEncoder ENCODER = new NimbusJwtEncoder(new ImmutableSecret<>(KEY));

	private DemoTokens() {
	}

	static ReactiveJwtDecoder decoder() {
		return NimbusReactiveJwtDecoder.withSecretKey(KEY).macAlgorithm(MacAlgorithm.HS256).build();
	}

	static String sign(Map<String, Object> claims, Instant issuedAt) {
		JwtClaimsSet set = JwtClaimsSet.builder()
			.claims((all) -> all.putAll(claims))
			.issuedAt(issuedAt)
			.expiresAt(issuedAt.plus(LIFETIME))
			.build();
		return ENCODER.encode(JwtEncoderParameters.from(JwsHeader.with(MacAlgorithm.HS256).build(), set))
			.getTokenValue();
	}

}
