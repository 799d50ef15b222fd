package dev.ratelimit;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * SHA-256 digest of an API key, written {@code sha256:…}. Lists and overrides hold
 * digests, so that their readers cannot use the keys. A caller's key is always digested
 * before the comparison, so that a digest does not work as a key either.
 */
public final class ApiKeyDigest {

	private static final String PREFIX = "sha256:";

	private static final Pattern DIGEST = Pattern.compile("(?i)sha256:[0-9a-f]{64}");

	/** One thread often compares the same key several times during a request. */
	private static final ThreadLocal<Last> LAST = ThreadLocal.withInitial(Last::new);

	private ApiKeyDigest() {
	}

	/**
	 * Whether a text is a digest already.
	 */
	public static boolean is(String text) {
		return DIGEST.matcher(text).matches();
	}

	/**
	 * Whether a value starts with {@code sha256:} but is not a valid digest of an API
	 * key. Such a value would be digested again as a key and would never match.
	 */
	public static boolean isBroken(Dimension dimension, String value) {
		return dimension.equals(Dimension.API_KEY) && value.regionMatches(true, 0, PREFIX, 0, PREFIX.length())
				&& !is(value);
	}

	/**
	 * A configured value in the form that is stored: an API key becomes its digest,
	 * unless it is a digest already.
	 */
	public static String said(Dimension dimension, String value) {
		if (!dimension.equals(Dimension.API_KEY) || value.isBlank()) {
			return value;
		}
		return is(value) ? value.toLowerCase(Locale.ROOT) : LAST.get().of(value);
	}

	/**
	 * A caller's value in the form that is compared with stored ones: an API key becomes
	 * its digest.
	 */
	public static String presented(Dimension dimension, String value) {
		return dimension.equals(Dimension.API_KEY) ? LAST.get().of(value) : value;
	}

	private static final class Last {

		private final MessageDigest sha256 = Sha256.create();

		private String key = "";

		private String digest = "";

		String of(String key) {
			if (!key.equals(this.key) || this.digest.isEmpty()) {
				this.digest = PREFIX
						+ HexFormat.of().formatHex(this.sha256.digest(key.getBytes(StandardCharsets.UTF_8)));
				this.key = key;
			}
			return this.digest;
		}

	}

}
