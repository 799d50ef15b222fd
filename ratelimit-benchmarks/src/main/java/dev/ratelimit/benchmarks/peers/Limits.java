package dev.ratelimit.benchmarks.peers;

import java.util.List;

import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Policy;

/**
 * The policies of our own contenders. All checks pass, except where the point is that
 * they do not. A permit of an existing key takes a second to come back, as with usual
 * quotas, and {@link #LEAD} of them are taken first, so that the counter outlives the
 * measurement; one of a lapsed key takes a millisecond.
 */
final class Limits {

	static final String POLICY = "peers";

	/** Permits that make an existing counter: ten minutes, but for shared counters. */
	static final int LEAD = 600;

	private Limits() {
	}

	static Policy one(Keys keys) {
		String quota = switch (keys) {
			case EXISTING -> "86400/d";
			case LAPSED -> "1000/s";
			case HUNDRED, HOT -> "90000000/d";
		};
		return Policy.builder(POLICY).limit("per-user", List.of(Dimension.USER), quota).build();
	}

	/** Three limits of two quotas each. Ten users share a tenant. */
	static Policy three(Keys keys, Enforcement enforcement) {
		String[] single = switch (keys) {
			case EXISTING -> quotas("86400/d", "604800/7d");
			case LAPSED -> quotas("1000/s", "30000/m");
			case HUNDRED, HOT -> outOfReach();
		};
		String[] shared = switch (keys) {
			case EXISTING -> quotas("864000/d", "6048000/7d");
			case LAPSED -> quotas("10000/s", "300000/m");
			case HUNDRED, HOT -> outOfReach();
		};
		return Policy.builder(POLICY)
			.limit("per-user", List.of(Dimension.USER), single)
			.limit("per-tenant", List.of(Dimension.TENANT), shared)
			.limit("per-ip", List.of(Dimension.IP), single)
			.enforcement(enforcement)
			.build();
	}

	/** The same, but each user is over the limit after one check. */
	static Policy exhausted() {
		return Policy.builder(POLICY)
			.limit("per-user", List.of(Dimension.USER), "1/h", "2/d")
			.limit("per-tenant", List.of(Dimension.TENANT), outOfReach())
			.limit("per-ip", List.of(Dimension.IP), outOfReach())
			.build();
	}

	private static String[] outOfReach() {
		return quotas("60000000/m", "90000000/d");
	}

	private static String[] quotas(String... quotas) {
		return quotas;
	}

}
