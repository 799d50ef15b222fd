package dev.ratelimit.counter;

import java.security.MessageDigest;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Sha256;
import dev.ratelimit.caller.DigestText;
import dev.ratelimit.caller.Epoch;
import dev.ratelimit.caller.Epochs;

/**
 * The names of counters: {@code <prefix>:<version><algorithm>:{<tag>}<digest>}, for
 * example {@code rl:3g:{Qf3}0Xw…}.
 *
 * <p>
 * The digest is 96 bits of SHA-256 over policy, limit and dimension values, each preceded
 * by its length, so that two different combinations never meet and nothing that a caller
 * sends appears in a key. The tag is what Redis Cluster hashes: 18 bits of the tenant's
 * digest where the limit counts by tenant, so that all counters of a tenant are on one
 * slot and one call decides them, otherwise the first characters of the digest itself.
 * The first part of a counter that is split has the counter's own key, the others have
 * digests and tags of their own, on slots far from each other. Length: 25 bytes and the
 * prefix.
 *
 * <p>
 * Among a billion counters two share a key with a probability of 6 in 10^12. A caller who
 * chooses values would have to try 2^96 of them to meet a given counter.
 *
 * <p>
 * Values that could be found by trying all of them, such as IPs, go into the digest as an
 * HMAC under a key of the {@link Epochs epoch}.
 */
public final class CounterKeys {

	/** Raised when the meaning of a stored value changes; old keys then expire unread. */
	private static final char VERSION = '3';

	private static final int TAG_LENGTH = SlotTags.ENDING;

	/**
	 * With a prefix of up to three letters a key then fits the 32 bytes that Redis
	 * allocates for it.
	 */
	private static final int DIGEST_BYTES = 12;

	/** Counters that are kept for callers that come again: about 1 MB with their keys. */
	private static final int RECENT = 8_192;

	private static final Pattern PREFIX = Pattern.compile("[a-z0-9-]{1,8}");

	private static final String IP_IN_PLACE = "\0ip:";

	/** Longer values are counted by their digest. */
	private static final int MAX_VALUE = 128;

	private static final String SHORTENED = "\0sha:";

	/** In place of a length, which is never negative. */
	private static final byte[] HASHED = { -1, -1, -1, -1 };

	private static final ThreadLocal<MessageDigest> SHA_256 = ThreadLocal.withInitial(Sha256::create);

	private final String prefix;

	private final Set<Dimension> hashed;

	private final @Nullable Epochs epochs;

	private final @Nullable Counter[] recent = new Counter[RECENT];

	/**
	 * Keys without hashed values.
	 */
	public CounterKeys(String prefix) {
		this(prefix, Set.of(), null);
	}

	/**
	 * Keys with hashed values.
	 * @param hashed the dimensions whose values are hashed; the IP also where it replaces
	 * a missing value
	 * @param epochs the keys of the hash
	 */
	public CounterKeys(String prefix, Set<Dimension> hashed, @Nullable Epochs epochs) {
		if (!isPrefix(prefix)) {
			throw new IllegalArgumentException(
					"key prefix '" + prefix + "': use 1 to 8 lower-case letters, digits and dashes");
		}
		this.prefix = prefix;
		this.hashed = Set.copyOf(hashed);
		this.epochs = epochs;
	}

	/** Whether keys in Redis may begin with a text. */
	public static boolean isPrefix(String text) {
		return PREFIX.matcher(text).matches();
	}

	/**
	 * The value in place of a missing one: marked as an IP, so that a user named like an
	 * address does not share its counter.
	 */
	public static String inPlace(String ip) {
		return IP_IN_PLACE + ip;
	}

	/**
	 * The value itself, or its digest if a caller has sent a long one.
	 */
	static String shortened(String value) {
		if (value.length() <= MAX_VALUE) {
			return value;
		}
		byte[] digest = SHA_256.get().digest(DigestText.bytes(value));
		return SHORTENED + DigestText.encode(digest, digest.length);
	}

	static List<String> shortened(List<String> values) {
		for (int i = 0; i < values.size(); i++) {
			if (values.get(i).length() > MAX_VALUE) {
				return values.stream().map(CounterKeys::shortened).toList();
			}
		}
		return values;
	}

	/**
	 * Adds the counter of a limit for a caller, and for a while after a change of epochs
	 * also the previous one.
	 * @param counters where to add them
	 */
	public void add(CounterSpec spec, String policy, List<String> values, List<Counter> counters) {
		add(spec, policy, null, values, isHashed(spec.limit(), values), counters);
	}

	/**
	 * The same for a limit with one dimension, without a list of values.
	 */
	public void add(CounterSpec spec, String policy, String value, List<Counter> counters) {
		add(spec, policy, shortened(value), List.of(), isHashed(spec.limit().by().get(0), value), counters);
	}

	private void add(CounterSpec spec, String policy, @Nullable String value, List<String> values, boolean hashed,
			List<Counter> counters) {
		Epochs epochs = hashed ? this.epochs : null;
		long now = (epochs != null) ? epochs.now() : 0;
		Epoch epoch = (epochs != null) ? epochs.at(now) : null;
		counters
			.add((value != null) ? recent(spec, policy, value, epoch) : new Counter(spec, this, policy, values, epoch));
		if (epochs != null && epoch != null && epochs.hasJustTurned(now, spec.lifetimeMicros())) {
			counters.add(new Counter(spec, this, policy, (value != null) ? List.of(value) : values, epoch.previous()));
		}
	}

	/**
	 * A counter that was made lately, with its key and slot if these were needed, or a
	 * new one. Threads may overwrite each other's, which only costs a counter.
	 */
	private Counter recent(CounterSpec spec, String policy, String value, @Nullable Epoch epoch) {
		int hash = (value.hashCode() * 31 + spec.hashCode()) * 0x9E3779B9;
		int place = hash >>> (Integer.SIZE - Integer.numberOfTrailingZeros(RECENT));
		Counter known = this.recent[place];
		if (known == null || !known.is(spec, policy, value, epoch)) {
			known = new Counter(spec, this, policy, value, epoch);
			this.recent[place] = known;
		}
		return known;
	}

	/** Whether the epoch began at most this many microseconds ago. */
	boolean hasJustTurned(long micros) {
		return this.epochs != null && this.epochs.hasJustTurned(this.epochs.now(), micros);
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
		return key(policy, algorithm, limit, shortened(values), epoch(limit, values), 0);
	}

	/**
	 * The key of one part of a counter.
	 * @param epoch its key hashes the values, {@code null} if none is hashed
	 * @param part index of the part, from 0; the number of parts is not in the key, so
	 * that parts keep their counts when it changes
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
		String digest = DigestText.encode(sha.digest(), DIGEST_BYTES);
		String tag = ((tenant < 0) ? digest : tagOf(sha, values.get(tenant), epoch)).substring(0, TAG_LENGTH);
		if (part > 0) {
			digest = partOf(sha, digest, part);
			tag = SlotTags.ofPart(digest.substring(0, TAG_LENGTH - SlotTags.ENDING), tag, part);
		}
		return this.prefix + ':' + VERSION + letter(algorithm) + ":{" + tag + '}' + digest;
	}

	/**
	 * The id of a request that may be sent again: 96 bits of SHA-256. Two callers never
	 * share one, because their counters are different.
	 * @param owner owner of the counters
	 * @param counters the whole counters of the request
	 * @param key id that the caller has sent
	 */
	public static String attempt(String owner, List<Counter> counters, String key) {
		// Before the digest is used, because keys are made with it.
		List<String> keys = counters.stream().filter((counter) -> !counter.isOld()).map(Counter::key).toList();
		MessageDigest sha = SHA_256.get();
		sha.reset();
		update(sha, owner);
		keys.forEach((counter) -> update(sha, counter));
		update(sha, key);
		return DigestText.encode(sha.digest(), DIGEST_BYTES);
	}

	/** Hashes three values: a whole counter has an even number of them. */
	private static String partOf(MessageDigest sha, String whole, int part) {
		update(sha, whole);
		update(sha, "part");
		update(sha, Integer.toString(part));
		return DigestText.encode(sha.digest(), DIGEST_BYTES);
	}

	private String tagOf(MessageDigest sha, String tenant, @Nullable Epoch epoch) {
		update(sha, Dimension.TENANT, tenant, epoch);
		return DigestText.encode(sha.digest(), 9);
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
		sha.update(DigestText.bytes(value));
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

}
