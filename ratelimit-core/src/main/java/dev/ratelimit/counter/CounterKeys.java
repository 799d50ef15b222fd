package dev.ratelimit.counter;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;

/**
 * The names of counters: {@code <prefix>:<version><algorithm>:{<tag>}<digest>}, for
 * example {@code rl:2g:{Qf3k1s9ZbnA}0Xw…}.
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
 *
 * <p>
 * Values that would be found by trying all there are, such as IPs, go into the digest as
 * their HMAC under a key of the {@link Epochs epoch}.
 */
public final class CounterKeys {

	/** Raised when the meaning of a stored value changes; old keys then expire unread. */
	private static final char VERSION = '2';

	private static final int TAG_LENGTH = 11;

	/**
	 * With a prefix of up to three letters a key then fits the 48 bytes that Redis
	 * allocates for it.
	 */
	private static final int DIGEST_BYTES = 18;

	private static final Pattern PREFIX = Pattern.compile("[a-z0-9-]{1,8}");

	private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

	private static final String IP_IN_PLACE = "\0ip:";

	/** In place of a length, which is never negative. */
	private static final byte[] HASHED = { -1, -1, -1, -1 };

	private static final ThreadLocal<MessageDigest> SHA_256 = ThreadLocal.withInitial(CounterKeys::sha256);

	private final String prefix;

	private final Set<Dimension> hashed;

	private final @Nullable Epochs epochs;

	/**
	 * Keys without hashed values.
	 */
	public CounterKeys(String prefix) {
		this(prefix, Set.of(), null);
	}

	/**
	 * Keys with hashed values.
	 * @param hashed the dimensions whose values are hashed; the IP also where it stands
	 * in for a value that is missing
	 * @param epochs with which key
	 */
	public CounterKeys(String prefix, Set<Dimension> hashed, @Nullable Epochs epochs) {
		if (!PREFIX.matcher(prefix).matches()) {
			throw new IllegalArgumentException(
					"key prefix '" + prefix + "': use 1 to 8 lower-case letters, digits and dashes");
		}
		this.prefix = prefix;
		this.hashed = Set.copyOf(hashed);
		this.epochs = epochs;
	}

	/**
	 * What is counted by in place of a value that is missing: typed, so that no user who
	 * is named like an address shares its counter.
	 */
	public static String inPlace(String ip) {
		return IP_IN_PLACE + ip;
	}

	/**
	 * The counters that a limit has for a caller: one, and for a while after the keys of
	 * hashed values have changed the one before it too.
	 * @param counters where to add them
	 */
	public void add(CounterSpec spec, String policy, List<String> values, List<Counter> counters) {
		Epochs epochs = this.epochs;
		if (epochs == null || !isHashed(spec.limit(), values)) {
			counters.add(new Counter(spec, this, policy, values, null));
			return;
		}
		long now = epochs.now();
		Epoch epoch = epochs.at(now);
		counters.add(new Counter(spec, this, policy, values, epoch));
		if (epochs.hasJustTurned(now, spec.lifetimeMicros())) {
			counters.add(new Counter(spec, this, policy, values, epoch.previous()));
		}
	}

	/** The epoch of a counter now, {@code null} if no value of it is hashed. */
	@Nullable Epoch epoch(Limit limit, List<String> values) {
		Epochs epochs = this.epochs;
		return (epochs != null && isHashed(limit, values)) ? epochs.at(epochs.now()) : null;
	}

	private boolean isHashed(Limit limit, List<String> values) {
		for (int i = 0; i < values.size(); i++) {
			if (isHashed(limit.by().get(i), values.get(i))) {
				return true;
			}
		}
		return false;
	}

	private boolean isHashed(Dimension dimension, String value) {
		return this.hashed.contains(dimension) || value.startsWith(IP_IN_PLACE) && this.hashed.contains(Dimension.IP);
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
		return key(policy, algorithm, limit, values, epoch(limit, values), 0);
	}

	/**
	 * The key of one part of a counter.
	 * @param epoch whose key its values are hashed with, if any is
	 * @param part which one, from 0; how many there are does not matter, so that parts
	 * keep what they counted when their number changes
	 */
	String key(String policy, Algorithm algorithm, Limit limit, List<String> values, @Nullable Epoch epoch, int part) {
		MessageDigest sha = SHA_256.get();
		sha.reset();
		update(sha, policy);
		update(sha, limit.name());
		int tenant = -1;
		for (int i = 0; i < values.size(); i++) {
			Dimension dimension = limit.by().get(i);
			update(sha, dimension.name());
			update(sha, dimension, values.get(i), epoch);
			if (dimension.equals(Dimension.TENANT)) {
				tenant = i;
			}
		}
		String digest = text(sha.digest(), DIGEST_BYTES);
		String tag = ((tenant < 0) ? digest : tagOf(sha, values.get(tenant), epoch)).substring(0, TAG_LENGTH);
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

	private String tagOf(MessageDigest sha, String tenant, @Nullable Epoch epoch) {
		update(sha, Dimension.TENANT, tenant, epoch);
		return text(sha.digest(), 9);
	}

	static String text(byte[] digest, int bytes) {
		return new String(BASE64.encode(Arrays.copyOf(digest, bytes)), StandardCharsets.ISO_8859_1);
	}

	private void update(MessageDigest sha, Dimension dimension, String value, @Nullable Epoch epoch) {
		if (epoch != null && isHashed(dimension, value)) {
			sha.update(HASHED);
			sha.update(epoch.hash(dimension, value));
		}
		else {
			update(sha, value);
		}
	}

	private static void update(MessageDigest sha, String value) {
		sha.update(bytes(value));
	}

	/**
	 * The length and the characters, rather than UTF-8, which would map different broken
	 * surrogates to one byte.
	 */
	static byte[] bytes(String value) {
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
