package dev.ratelimit.grpc;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;

import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

import com.nimbusds.jose.jwk.source.ImmutableSecret;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.oauth2.jose.jws.MacAlgorithm;
import org.springframework.security.oauth2.jwt.JwsHeader;
import org.springframework.security.oauth2.jwt.JwtClaimsSet;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtEncoderParameters;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.jwt.NimbusJwtEncoder;
import org.springframework.security.oauth2.jwt.NimbusReactiveJwtDecoder;
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder;

/**
 * Signed tokens and the decoders that verify them.
 */
final class TestTokens {

	private static final SecretKey KEY = new SecretKeySpec(
			"a secret of thirty-two bytes or more".getBytes(StandardCharsets.UTF_8), "HmacSHA256");

	private TestTokens() {
	}

	static String bearer(Map<String, Object> claims) {
		JwtClaimsSet set = JwtClaimsSet.builder()
			.expiresAt(Instant.now().plusSeconds(3_600))
			.claims((all) -> all.putAll(claims))
			.build();
		return "Bearer " + new NimbusJwtEncoder(new ImmutableSecret<>(KEY))
			.encode(JwtEncoderParameters.from(JwsHeader.with(MacAlgorithm.HS256).build(), set))
			.getTokenValue();
	}

	@Configuration(proxyBeanMethods = false)
	static class Reactive {

		@Bean
		ReactiveJwtDecoder decoder() {
			return NimbusReactiveJwtDecoder.withSecretKey(KEY).macAlgorithm(MacAlgorithm.HS256).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Blocking {

		@Bean
		JwtDecoder decoder() {
			return NimbusJwtDecoder.withSecretKey(KEY).macAlgorithm(MacAlgorithm.HS256).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SeveralReactive extends Reactive {

		@Bean
		ReactiveJwtDecoder other() {
			return decoder();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SeveralBlocking extends Blocking {

		@Bean
		JwtDecoder other() {
			return decoder();
		}

	}

}
