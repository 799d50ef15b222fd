package dev.ratelimit.caller;

import java.security.Key;

/**
 * Encrypts hash codes of counters before they leave the process. A plain hash code of 32
 * bits would reveal nearly every one of the 2^32 IPv4 addresses; a sealed one reveals
 * nothing without the salt. An instance with the salt decrypts the hash code, so a check
 * can look up a counter by its plain hash code at no extra cost.
 *
 * <p>
 * The cipher is a Feistel network of four rounds over two halves with an HMAC as round
 * function. It runs some hundred times a second, never during a check.
 */
public final class SealedHashes {

	private static final int ROUNDS = 4;

	private final Salt salt;

	public SealedHashes(Salt salt) {
		this.salt = salt;
	}

	public int seal(int hash) {
		Key key = Epoch.key(this.salt.text());
		int left = hash >>> 16;
		int right = hash & 0xFFFF;
		for (int round = 0; round < ROUNDS; round++) {
			int next = left ^ mixed(key, round, right);
			left = right;
			right = next;
		}
		return left << 16 | right;
	}

	public int open(int sealed) {
		Key key = Epoch.key(this.salt.text());
		int left = sealed >>> 16;
		int right = sealed & 0xFFFF;
		for (int round = ROUNDS - 1; round >= 0; round--) {
			int before = right ^ mixed(key, round, left);
			right = left;
			left = before;
		}
		return left << 16 | right;
	}

	/**
	 * The message has 3 bytes and an epoch's number 8, so the two HMAC inputs never
	 * coincide.
	 */
	private static int mixed(Key key, int round, int half) {
		byte[] mixed = Epoch.hmac(key, new byte[] { (byte) round, (byte) (half >> 8), (byte) half });
		return (mixed[0] & 0xFF) << 8 | mixed[1] & 0xFF;
	}

}
