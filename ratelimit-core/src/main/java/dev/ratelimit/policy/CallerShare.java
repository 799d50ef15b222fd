package dev.ratelimit.policy;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Dimension;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Request;

/**
 * Which callers are among so many percent of all. A caller is its tenant, else its user,
 * its verified API key or its IP. It has one place between 0 and 99 under a policy,
 * whichever version: who is in at 1 % is in at 10 %, and under another policy others are
 * the first.
 */
final class CallerShare {

	private static final Dimension[] CALLERS = { Dimension.TENANT, Dimension.USER, Dimension.API_KEY };

	/**
	 * How many bits of an IPv6 address make a caller: who has one has all that follow.
	 */
	private static final int IPV6_PREFIX = 64;

	/** Of FNV-1a. */
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
	 * Where the caller of a request is, from 0 to 99.
	 */
	int place(Request request) {
		long hash = this.policy;
		int kind = 0;
		String caller = null;
		while (caller == null && kind < CALLERS.length) {
			caller = request.verified(CALLERS[kind++]);
		}
		caller = (caller != null) ? caller : ip(request);
		hash = (hash ^ ('0' + kind)) * PRIME;
		hash = (caller != null) ? add(hash, caller) : hash;
		return (int) (((mixed(hash) >>> 32) * 100) >>> 32);
	}

	private static @Nullable String ip(Request request) {
		String ip = request.dimensions().get(Dimension.IP);
		IpAddress address = (ip != null && ip.indexOf(':') >= 0) ? IpAddress.parse(ip) : null;
		return (address != null) ? address.group(IPV6_PREFIX).toString() : ip;
	}

	private static long add(long hash, String text) {
		long result = hash;
		for (int i = 0; i < text.length(); i++) {
			result = (result ^ text.charAt(i)) * PRIME;
		}
		return result;
	}

	/** FNV leaves its upper bits too regular for short texts: the end of MurmurHash3. */
	private static long mixed(long hash) {
		long result = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
		result = (result ^ (result >>> 33)) * 0xc4ceb9fe1a85ec53L;
		return result ^ (result >>> 33);
	}

}
