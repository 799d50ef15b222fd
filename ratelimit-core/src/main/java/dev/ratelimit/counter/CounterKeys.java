package dev.ratelimit.counter;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;

/**
 * The names of counters: {@code <prefix>:<version><algorithm>:{<tag>}<digest>}, for
 * example {@code rl:1g:{Qf3k1s9ZbnA}0Xw…}.
 *
 * <p>
 * The digest is 144 bits of SHA-256 over policy, limit and dimension values, each
 * preceded by its length, so that two different combinations never meet and nothing that
 * a caller sends appears in a key. The tag is what Redis Cluster hashes: 64 bits of the
 * tenant's digest where the limit counts by tenant, so that all counters of a tenant are
 * on one slot and one call decides them, otherwise the first characters of the digest
 * itself. The first part of a counter that is split has the counter's own key, the others
 * have digests and tags of their own, on slots far from each other. Length: 41 bytes and
 * the prefix.
 */
public final class CounterKeys {

	/** Raised when the meaning of a stored value changes; old keys then expire unread. */
	private static final char VERSION = '1';

	private static final int TAG_LENGTH = 11;

	/**
	 * With a prefix of up to three letters a key then fits the 48 bytes that Redis
	 * allocates for it.
	 */
	private static final int DIGEST_BYTES = 18;

	private static final Pattern PREFIX = Pattern.compile("[a-z0-9-]{1,8}");

	private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

	private static final ThreadLocal<MessageDigest> SHA_256 = ThreadLocal.withInitial(CounterKeys::sha256);

	private final String prefix;

	public CounterKeys(String prefix) {
		if (!PREFIX.matcher(prefix).matches()) {
			throw new IllegalArgumentException(
					"key prefix '" + prefix + "': use 1 to 8 lower-case letters, digits and dashes");
		}
		this.prefix = prefix;
	}

	/**
	 * The key of one counter.
	 * @param policy id of the policy
	 * @param algorithm its algorithm; another one has other states and therefore other
	 * keys
	 * @param limit one of its limits
	 * @param values a value for each dimension of the limit
	 */
	public String key(String policy, Algorithm algorithm, Limit limit, List<String> values) {
		return key(policy, algorithm, limit, values, 0);
	}

	/**
	 * The key of one part of a counter.
	 * @param part which one, from 0; how many there are does not matter, so that parts
	 * keep what they counted when their number changes
	 */
	String key(String policy, Algorithm algorithm, Limit limit, List<String> values, int part) {
		MessageDigest sha = SHA_256.get();
		sha.reset();
		update(sha, policy);
		update(sha, limit.name());
		int tenant = -1;
		for (int i = 0; i < values.size(); i++) {
			Dimension dimension = limit.by().get(i);
			update(sha, dimension.name());
			update(sha, values.get(i));
			if (dimension.equals(Dimension.TENANT)) {
				tenant = i;
			}
		}
		String digest = text(sha.digest(), DIGEST_BYTES);
		String tag = ((tenant < 0) ? digest : tagOf(sha, values.get(tenant))).substring(0, TAG_LENGTH);
		if (part > 0) {
			digest = partOf(sha, digest, part);
			tag = SlotTags.ofPart(digest.substring(0, TAG_LENGTH - SlotTags.ENDING), tag, part);
		}
		return this.prefix + ':' + VERSION + letter(algorithm) + ":{" + tag + '}' + digest;
	}

	/** Three values, which no counter in one piece has: those come in pairs. */
	private static String partOf(MessageDigest sha, String whole, int part) {
		update(sha, whole);
		update(sha, "part");
		update(sha, Integer.toString(part));
		return text(sha.digest(), DIGEST_BYTES);
	}

	private static String tagOf(MessageDigest sha, String tenant) {
		update(sha, tenant);
		return text(sha.digest(), 9);
	}

	private static String text(byte[] digest, int bytes) {
		return new String(BASE64.encode(Arrays.copyOf(digest, bytes)), StandardCharsets.ISO_8859_1);
	}

	/**
	 * Characters rather than UTF-8, which would map different broken surrogates to one
	 * byte.
	 */
	private static void update(MessageDigest sha, String value) {
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
		sha.update(bytes);
	}

	private static char letter(Algorithm algorithm) {
		return switch (algorithm) {
			case GCRA -> 'g';
			case TOKEN_BUCKET -> 't';
			case SLIDING_WINDOW_COUNTER -> 'c';
			case SLIDING_WINDOW_LOG -> 'l';
			case FIXED_WINDOW -> 'f';
		};
	}

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("every Java has SHA-256", ex);
		}
	}

}
