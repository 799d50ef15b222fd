package dev.ratelimit.counter;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * The secret of the fleet, from which the keys of all hashes are made. Configured, or
 * made at random and then replaced by the one that the fleet shares as soon as that is
 * known. It is never shown.
 */
public final class Salt {

	private static final int RANDOM_BYTES = 32;

	private volatile String text;

	private Salt(String text) {
		this.text = text;
	}

	/**
	 * One that was chosen.
	 */
	public static Salt of(String text) {
		if (text.isEmpty()) {
			throw new IllegalArgumentException("a salt cannot be empty");
		}
		return new Salt(text);
	}

	/**
	 * One that nobody knows.
	 */
	public static Salt random() {
		byte[] bytes = new byte[RANDOM_BYTES];
		new SecureRandom().nextBytes(bytes);
		return new Salt(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
	}

	/**
	 * The secret itself, for those who share it.
	 */
	public String text() {
		return this.text;
	}

	/**
	 * Takes over another one. What was counted under hashes of the old one is not found
	 * again.
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
