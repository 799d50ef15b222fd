package dev.ratelimit.counter;

import java.security.Key;

/**
 * Hash codes of counters as they may leave the process. Of the 2^32 addresses of IPv4 a
 * plain hash code of 32 bits would give nearly each away; a sealed one tells nobody
 * anything who does not have the salt. Those who have it find the hash code again, so
 * that looking for a counter costs a check nothing.
 *
 * <p>
 * A Feistel network of four rounds over two halves, its round function an HMAC. It is
 * done some hundred times a second, never for a check.
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

	/** Not as long as the number of an epoch, so never the same message. */
	private static int mixed(Key key, int round, int half) {
		byte[] mixed = Epoch.hmac(key, new byte[] { (byte) round, (byte) (half >> 8), (byte) half });
		return (mixed[0] & 0xFF) << 8 | mixed[1] & 0xFF;
	}

}
