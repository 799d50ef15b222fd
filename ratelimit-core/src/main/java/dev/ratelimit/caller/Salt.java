package dev.ratelimit.caller;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * The fleet's secret, from which the keys of all hashes are derived. Either configured,
 * or random until the instance knows the salt that the fleet shares. Never shown.
 */
public final class Salt {

	private static final int RANDOM_BYTES = 32;

	private volatile String text;

	private Salt(String text) {
		this.text = text;
	}

	public static Salt of(String text) {
		if (text.isEmpty()) {
			throw new IllegalArgumentException("the salt must not be empty");
		}
		return new Salt(text);
	}

	/**
	 * A random salt of 32 bytes.
	 */
	public static Salt random() {
		byte[] bytes = new byte[RANDOM_BYTES];
		new SecureRandom().nextBytes(bytes);
		return new Salt(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
	}

	/**
	 * The secret itself, for sharing it with the fleet.
	 */
	public String text() {
		return this.text;
	}

	/**
	 * Replaces the salt. Counters under hashes of the old salt are lost.
	 */
	public void become(String text) {
		this.text = text;
	}

	/** Without the secret. */
	@Override
	public String toString() {
		return "salt";
	}

}
