package dev.ratelimit;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What an API key goes by where something is said about it: {@code sha256:} and its
 * digest. Who may read lists and overrides must not be able to call with the keys in
 * them. A key of a caller is always digested before it is compared, so that nobody can
 * call with a digest either.
 */
public final class ApiKeyDigest {

	private static final String PREFIX = "sha256:";

	private static final Pattern DIGEST = Pattern.compile("(?i)sha256:[0-9a-f]{64}");

	/** A request may be compared several times, and by the same thread. */
	private static final ThreadLocal<Last> LAST = ThreadLocal.withInitial(Last::new);

	private ApiKeyDigest() {
	}

	/**
	 * Whether a text is one already.
	 */
	public static boolean is(String text) {
		return DIGEST.matcher(text).matches();
	}

	/**
	 * Whether a value of a dimension begins like a digest of an API key and is none: it
	 * would be taken for a key and digested again, and never match.
	 */
	public static boolean isBroken(Dimension dimension, String value) {
		return dimension.equals(Dimension.API_KEY) && value.regionMatches(true, 0, PREFIX, 0, PREFIX.length())
				&& !is(value);
	}

	/**
	 * A value of a dimension as something is said about it: that of an API key is
	 * digested unless it is already.
	 */
	public static String said(Dimension dimension, String value) {
		if (!dimension.equals(Dimension.API_KEY) || value.isBlank()) {
			return value;
		}
		return is(value) ? value.toLowerCase(Locale.ROOT) : LAST.get().of(value);
	}

	/**
	 * A value of a dimension as a caller has it, to be compared to what is said.
	 */
	public static String presented(Dimension dimension, String value) {
		return dimension.equals(Dimension.API_KEY) ? LAST.get().of(value) : value;
	}

	private static final class Last {

		private final MessageDigest sha256;

		private String key = "";

		private String digest = "";

		Last() {
			try {
				this.sha256 = MessageDigest.getInstance("SHA-256");
			}
			catch (NoSuchAlgorithmException ex) {
				throw new IllegalStateException("every Java has SHA-256", ex);
			}
		}

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
