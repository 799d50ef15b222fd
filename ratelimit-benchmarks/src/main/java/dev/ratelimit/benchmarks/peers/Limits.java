package dev.ratelimit.benchmarks.peers;

import java.util.List;

import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Policy;

/**
 * The policies of our own contenders. All pass, except where the point is that they do
 * not: with random keys because the load is spread thin, with busy ones because the limit
 * is out of reach. A state means something for about as long as it takes until its key
 * comes up again; one that expired at once would make Redis look faster than it is.
 */
final class Limits {

	static final String POLICY = "peers";

	private Limits() {
	}

	static Policy one(Keys keys) {
		return Policy.builder(POLICY)
			.limit("per-user", List.of(Dimension.USER), keys.busy() ? "90000000/d" : "100/m")
			.build();
	}

	/** Three limits of two quotas each. */
	static Policy three(Keys keys, Enforcement enforcement) {
		String[] single = keys.busy() ? outOfReach() : new String[] { "100/m", "2000/h" };
		String[] shared = keys.busy() ? outOfReach() : new String[] { "1000/m", "20000/h" };
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
		return new String[] { "60000000/m", "90000000/d" };
	}

}
