package dev.ratelimit.gateway;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Date;
import java.util.Map;

import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

/**
 * Real tokens, good and bad.
 */
final class Tokens {

	static final SecretKey KEY = new SecretKeySpec("0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8),
			"HmacSHA256");

	private static final SecretKey OTHER_KEY = new SecretKeySpec(
			"fedcba9876543210fedcba9876543210".getBytes(StandardCharsets.UTF_8), "HmacSHA256");

	private Tokens() {
	}

	static String of(String tenant, String user) {
		return token(Map.of("tenant_id", tenant, "sub", user), KEY, Instant.now().plusSeconds(600));
	}

	static String of(Map<String, Object> claims) {
		return token(claims, KEY, Instant.now().plusSeconds(600));
	}

	static String expired(String tenant, String user) {
		return token(Map.of("tenant_id", tenant, "sub", user), KEY, Instant.now().minusSeconds(600));
	}

	static String forged(String tenant, String user) {
		return token(Map.of("tenant_id", tenant, "sub", user), OTHER_KEY, Instant.now().plusSeconds(600));
	}

	private static String token(Map<String, Object> claims, SecretKey key, Instant expiry) {
		JWTClaimsSet.Builder builder = new JWTClaimsSet.Builder().expirationTime(Date.from(expiry));
		claims.forEach(builder::claim);
		SignedJWT jwt = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), builder.build());
		try {
			jwt.sign(new MACSigner(key));
		}
		catch (JOSEException ex) {
			throw new IllegalStateException(ex);
		}
		return "Bearer " + jwt.serialize();
	}

}
