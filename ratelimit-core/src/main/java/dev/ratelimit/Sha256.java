package dev.ratelimit;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256, which every JVM has.
 */
public final class Sha256 {

	private Sha256() {
	}

	public static MessageDigest create() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("this JVM lacks SHA-256", ex);
		}
	}

	/**
	 * The digest of a text in UTF-8, in hexadecimal digits.
	 */
	public static String hex(String text) {
		return HexFormat.of().formatHex(create().digest(text.getBytes(StandardCharsets.UTF_8)));
	}

}
