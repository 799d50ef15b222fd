package dev.ratelimit;

import java.util.Locale;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ApiKeyDigestTests {

	/** The output of {@code printf %s sk_live_4711 | sha256sum}. */
	private static final String DIGEST = "sha256:60ccd9c50cc49a2cbb7523806aade1d93164580391590d96c07d21820e1237b2";

	private static final String KEY = "sk_live_4711";

	@Test
	void digestIsTheOneThatCommandsPrint() {
		assertThat(ApiKeyDigest.said(Dimension.API_KEY, KEY)).isEqualTo(DIGEST);
		assertThat(ApiKeyDigest.said(Dimension.API_KEY, DIGEST)).isEqualTo(DIGEST);
		assertThat(ApiKeyDigest.said(Dimension.API_KEY, DIGEST.toUpperCase(Locale.ROOT))).isEqualTo(DIGEST);
		assertThat(ApiKeyDigest.said(Dimension.TENANT, KEY)).isEqualTo(KEY);
	}

}
