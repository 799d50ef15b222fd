package dev.ratelimit.caller;

import java.nio.ByteBuffer;
import java.security.MessageDigest;

/**
 * Signs what callers keep for a while and bring back to any instance. Each epoch has a
 * key of its own for each purpose: the HMAC-SHA-256 of the purpose and the epoch's number
 * under the salt. The input is longer than those of the other keys that are derived from
 * the salt, so no two of them are equal.
 */
public final class Signatures {

	/** Length of a signature. */
	public static final int BYTES = 32;

	private final Epochs epochs;

	private final byte[] purpose;

	/**
	 * Creates it.
	 * @param purpose signatures for one purpose are worthless for others
	 */
	public Signatures(Epochs epochs, String purpose) {
		if (purpose.isEmpty()) {
			throw new IllegalArgumentException("the purpose must not be empty");
		}
		this.epochs = epochs;
		this.purpose = DigestText.bytes(purpose);
	}

	/** The time that selects the key of a new signature, in milliseconds since 1970. */
	public long now() {
		return this.epochs.now();
	}

	/**
	 * Signs a message with the key of an epoch.
	 * @param millis time of the signature, which the message must contain
	 */
	public byte[] sign(long millis, byte[] message) {
		byte[] label = ByteBuffer.allocate(this.purpose.length + Long.BYTES)
			.put(this.purpose)
			.putLong(this.epochs.number(millis))
			.array();
		return Epoch.hmac(Epoch.key(Epoch.hmac(this.epochs.key(), label)), message);
	}

	/**
	 * Whether a message was signed at this time, in the current epoch or the previous
	 * one. The time taken does not depend on how much of the signature is right.
	 */
	public boolean verify(long millis, byte[] message, byte[] signature) {
		long now = now();
		// The clock of the instance that signed may be ahead, also in the next epoch.
		boolean accepted = millis <= now + Epochs.TOLERANCE.toMillis()
				&& this.epochs.number(millis) >= this.epochs.number(now) - 1;
		return accepted && MessageDigest.isEqual(sign(millis, message), signature);
	}

}
