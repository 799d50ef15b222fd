package dev.ratelimit.counter;

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
 * A time in which values are hashed with one key, which is the HMAC-SHA-256 of its number
 * under the salt. Two are equal if their keys are.
 */
final class Epoch {

	private static final String HMAC = "HmacSHA256";

	private static final ThreadLocal<Mac> MAC = ThreadLocal.withInitial(Epoch::mac);

	private final String salt;

	private final long number;

	private final Key key;

	private final @Nullable Epoch previous;

	private final boolean over;

	/**
	 * The epoch of that number, with the one before it.
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

	/** Whether it is made of this very salt. */
	boolean isOf(String salt) {
		return this.salt.equals(salt);
	}

	/**
	 * The one before, {@code null} if this is such a one itself.
	 */
	@Nullable Epoch previous() {
		return this.previous;
	}

	/**
	 * Whether it was replaced by the next one.
	 */
	boolean isOver() {
		return this.over;
	}

	/**
	 * The HMAC of a value: 32 bytes.
	 */
	byte[] hash(Dimension dimension, String value) {
		byte[] name = CounterKeys.bytes(dimension.name());
		byte[] bytes = CounterKeys.bytes(value);
		return hmac(this.key, ByteBuffer.allocate(name.length + bytes.length).put(name).put(bytes).array());
	}

	static Key key(String salt) {
		return key(salt.getBytes(StandardCharsets.UTF_8));
	}

	private static Key key(byte[] bytes) {
		return new SecretKeySpec(bytes, HMAC);
	}

	static byte[] hmac(Key key, byte[] message) {
		try {
			Mac mac = MAC.get();
			mac.init(key);
			return mac.doFinal(message);
		}
		catch (InvalidKeyException ex) {
			throw new IllegalStateException("every key fits " + HMAC, ex);
		}
	}

	private static Mac mac() {
		try {
			return Mac.getInstance(HMAC);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every Java has " + HMAC, ex);
		}
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other
				|| (other instanceof Epoch epoch && this.number == epoch.number && this.salt.equals(epoch.salt));
	}

	/** Of the number alone: it has to be the same in every instance. */
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
