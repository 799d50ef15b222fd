package dev.ratelimit.caller;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/**
 * Converts values to the input of a digest, and a digest to text.
 */
public final class DigestText {

	private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

	private DigestText() {
	}

	/**
	 * The length and the UTF-16 characters of a value. UTF-8 would map different unpaired
	 * surrogates to the same byte.
	 */
	public static byte[] bytes(String value) {
		byte[] bytes = new byte[4 + 2 * value.length()];
		int length = value.length();
		bytes[0] = (byte) (length >> 24);
		bytes[1] = (byte) (length >> 16);
		bytes[2] = (byte) (length >> 8);
		bytes[3] = (byte) length;
		for (int i = 0; i < length; i++) {
			char c = value.charAt(i);
			bytes[4 + 2 * i] = (byte) (c >> 8);
			bytes[5 + 2 * i] = (byte) c;
		}
		return bytes;
	}

	/**
	 * The first bytes of a digest as text for a Redis key or a URL.
	 */
	public static String encode(byte[] digest, int bytes) {
		return new String(BASE64.encode(Arrays.copyOf(digest, bytes)), StandardCharsets.ISO_8859_1);
	}

}
