package dev.ratelimit.caller;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.NoSuchAlgorithmException;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;

/**
 * A period in which values are hashed with one key: the HMAC-SHA-256 of the epoch's
 * number under the salt. Epochs with equal keys are equal.
 */
public final class Epoch {

	private static final String HMAC = "HmacSHA256";

	private static final ThreadLocal<Mac> MAC = ThreadLocal.withInitial(Epoch::mac);

	private final String salt;

	private final long number;

	private final Key key;

	private final @Nullable Epoch previous;

	private final boolean over;

	/**
	 * Creates the epoch with this number, together with the previous one.
	 */
	Epoch(String salt, long number) {
		this(salt, number, new Epoch(salt, number - 1, null, true), false);
	}

	private Epoch(String salt, long number, @Nullable Epoch previous, boolean over) {
		this.salt = salt;
		this.number = number;
		this.key = key(hmac(key(salt), ByteBuffer.allocate(Long.BYTES).putLong(number).array()));
		this.previous = previous;
		this.over = over;
	}

	long number() {
		return this.number;
	}

	/** Whether this salt made the key. */
	boolean isOf(String salt) {
		return this.salt.equals(salt);
	}

	/**
	 * The previous epoch; {@code null} if this epoch is itself a previous one.
	 */
	public @Nullable Epoch previous() {
		return this.previous;
	}

	/**
	 * Whether the next epoch has replaced this one.
	 */
	public boolean isOver() {
		return this.over;
	}

	/**
	 * The HMAC of a value: 32 bytes.
	 */
	public byte[] hash(Dimension dimension, String value) {
		byte[] name = DigestText.bytes(dimension.name());
		byte[] bytes = DigestText.bytes(value);
		return hmac(this.key, ByteBuffer.allocate(name.length + bytes.length).put(name).put(bytes).array());
	}

	static Key key(String salt) {
		return key(salt.getBytes(StandardCharsets.UTF_8));
	}

	static Key key(byte[] bytes) {
		return new SecretKeySpec(bytes, HMAC);
	}

	static byte[] hmac(Key key, byte[] message) {
		try {
			Mac mac = MAC.get();
			mac.init(key);
			return mac.doFinal(message);
		}
		catch (InvalidKeyException ex) {
			throw new IllegalStateException(HMAC + " rejected the key", ex);
		}
	}

	private static Mac mac() {
		try {
			return Mac.getInstance(HMAC);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("this JVM lacks " + HMAC, ex);
		}
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other
				|| (other instanceof Epoch epoch && this.number == epoch.number && this.salt.equals(epoch.salt));
	}

	/** From the number alone: the hash code must be the same in every instance. */
	@Override
	public int hashCode() {
		return Long.hashCode(this.number) * 0x85EBCA6B;
	}

	/** Without the keys. */
	@Override
	public String toString() {
		return "epoch " + this.number;
	}

}
