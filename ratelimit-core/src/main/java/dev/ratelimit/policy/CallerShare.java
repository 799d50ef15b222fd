package dev.ratelimit.policy;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.Request;
import dev.ratelimit.caller.CallerNames;

/**
 * Selects a percentage of the callers of a policy. A caller is identified by its tenant,
 * else its user, its verified API key or its IP. Each caller has a fixed place from 0 to
 * 99 under a policy, in all its versions: a caller selected at 1 % is also selected at 10
 * %. Another policy selects other callers first.
 *
 * <p>
 * Two more numbers of a caller are independent of its place and of each other: whether
 * both versions of a rollout are compared for it, and its bucket. A bucket that followed
 * from the place would hold all callers of a rollout at 1 %.
 */
final class CallerShare {

	/** Number of groups of callers whose refusals are judged together. */
	static final int BUCKETS = 64;

	/**
	 * Callers of 1,000 for which both versions of a rollout are compared. Each of their
	 * requests costs two more decisions, so these are 4 % of all.
	 */
	private static final int SAMPLED_PER_MILLE = 20;

	/** Added before mixing, so that one hash gives independent numbers. */
	private static final long OF_BUCKETS = 0x9e3779b97f4a7c15L;

	private static final long OF_SAMPLES = 0xd1b54a32d192ed03L;

	private static final Dimension[] CALLERS = { Dimension.TENANT, Dimension.USER, Dimension.API_KEY };

	/**
	 * Bits of an IPv6 address that identify a caller: one caller usually has a whole /64
	 * network. Fixed, unlike the prefix that counters use, so that a change of the
	 * configuration moves no caller to another version.
	 */
	private static final int IPV6_PREFIX = 64;

	/** Constants of the hash function FNV-1a. */
	private static final long OFFSET = 0xcbf29ce484222325L;

	private static final long PRIME = 0x100000001b3L;

	private final long policy;

	CallerShare(String policy) {
		this.policy = add(OFFSET, policy);
	}

	boolean contains(Request request, int percent) {
		return percent > 0 && (percent >= 100 || place(request) < percent);
	}

	/**
	 * Place of the caller of a request, from 0 to 99.
	 */
	int place(Request request) {
		return scaled(mixed(hash(request)), 100);
	}

	/**
	 * Bucket of the caller of a request, from 0 to 63.
	 */
	int bucket(Request request) {
		return scaled(mixed(hash(request) + OF_BUCKETS), BUCKETS);
	}

	/**
	 * Whether both versions of a rollout are compared for the caller of a request.
	 */
	boolean isSampled(Request request) {
		return scaled(mixed(hash(request) + OF_SAMPLES), 1_000) < SAMPLED_PER_MILLE;
	}

	private long hash(Request request) {
		long hash = this.policy;
		int kind = 0;
		String caller = null;
		while (caller == null && kind < CALLERS.length) {
			caller = request.verified(CALLERS[kind++]);
		}
		caller = (caller != null) ? caller : ip(request);
		hash = (hash ^ ('0' + kind)) * PRIME;
		return (caller != null) ? add(hash, caller) : hash;
	}

	private static int scaled(long mixed, int range) {
		return (int) (((mixed >>> 32) * range) >>> 32);
	}

	private static @Nullable String ip(Request request) {
		String ip = request.dimensions().get(Dimension.IP);
		return (ip != null) ? CallerNames.counted(Dimension.IP, ip, IPV6_PREFIX) : null;
	}

	private static long add(long hash, String text) {
		long result = hash;
		for (int i = 0; i < text.length(); i++) {
			result = (result ^ text.charAt(i)) * PRIME;
		}
		return result;
	}

	/**
	 * The final step of MurmurHash3: FNV alone leaves the upper bits too regular for
	 * short texts.
	 */
	private static long mixed(long hash) {
		long result = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
		result = (result ^ (result >>> 33)) * 0xc4ceb9fe1a85ec53L;
		return result ^ (result >>> 33);
	}

}
