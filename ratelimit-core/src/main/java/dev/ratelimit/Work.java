package dev.ratelimit;

import java.util.List;
import java.util.Map;

/**
 * Work that a counter causes in Redis. Redis serves no other client during a script call,
 * so the work of a call is bounded, and one request of a policy must fit into one call.
 * One unit is about 1.5 µs of Redis's time on a machine with 2 cores;
 * {@code WorkIntegrationTests} measures full calls.
 */
public final class Work {

	/**
	 * Most work of one call: about half a millisecond. While the keys of hashed values
	 * rotate, a request charges two counters and needs twice as much, still less than a
	 * millisecond.
	 */
	public static final int OF_A_CALL = 300;

	private static final int OF_A_COUNTER = 2;

	/**
	 * Opening a log reads about 50 entries one by one; so does the look-up of each quota.
	 * Every log counts as full, because another caller's larger quota may have filled it.
	 */
	private static final int OF_A_LOOK_UP = 30;

	private Work() {
	}

	/**
	 * Work to take permits from a counter or to read it.
	 */
	public static int of(Algorithm algorithm, int quotas) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> OF_A_COUNTER + quotas;
			case SLIDING_WINDOW_COUNTER, FIXED_WINDOW -> OF_A_COUNTER + 2 * quotas;
			case SLIDING_WINDOW_LOG -> OF_A_LOOK_UP * (1 + quotas);
		};
	}

	/**
	 * Work to give permits back to a counter. A log rewrites up to 400 later entries, and
	 * only Redis knows how many, so such a give-back gets a call of its own.
	 */
	public static int ofGiveBack(Algorithm algorithm, int quotas) {
		return isGivenBackAlone(algorithm) ? OF_A_CALL : of(algorithm, quotas);
	}

	/**
	 * Whether a give-back to one counter fills a call.
	 */
	public static boolean isGivenBackAlone(Algorithm algorithm) {
		return algorithm == Algorithm.SLIDING_WINDOW_LOG;
	}

	/**
	 * Checks that one call can decide a request with any tier and any override. Only logs
	 * can exceed the bound: the bounds on limits and quotas keep all other policies below
	 * it.
	 * @param policy id of the policy
	 * @param settings the settings with all tiers and overrides
	 * @throws IllegalArgumentException if the work does not fit into one call
	 */
	public static void requireOneCall(String policy, Algorithm algorithm, List<Limit> limits,
			Policy.Settings settings) {
		int work = ofRequest(algorithm, limits, settings);
		if (work > OF_A_CALL) {
			throw new IllegalArgumentException("policy '" + policy + "': a " + algorithm.text()
					+ " policy may have at most " + OF_A_CALL / OF_A_LOOK_UP
					+ " limits and quotas together, each limit with the most quotas that a tier or an override gives it,"
					+ " but has " + work / OF_A_LOOK_UP + "; remove some, or use sliding-window-counter");
		}
	}

	/**
	 * Checks the same for a single override record. A caller can have several records,
	 * each for another limit, and this check sees only one of them; so each limit gets an
	 * equal share of the work that the policy leaves.
	 * @param override quotas by the name of the limit
	 * @throws IllegalArgumentException if the work does not fit into one call
	 */
	static void requireOneCall(Policy policy, Map<String, List<Quota>> override) {
		Algorithm algorithm = policy.algorithm();
		List<Limit> limits = policy.limits();
		if (limits.size() * of(algorithm, Limit.MAX_QUOTAS) <= OF_A_CALL) {
			return;
		}
		int spare = (OF_A_CALL - ofRequest(algorithm, limits, policy.settings())) / limits.size();
		for (Limit limit : limits) {
			int quotas = override.getOrDefault(limit.name(), List.of()).size();
			int most = mostQuotas(limit, policy.settings());
			if (of(algorithm, quotas) > of(algorithm, most) + spare) {
				throw new IllegalArgumentException("policy '" + policy.id() + "', limit '" + limit.name() + "': a "
						+ algorithm.text() + " limit of this policy may get at most " + (most + spare / OF_A_LOOK_UP)
						+ " quotas from an override but got " + quotas
						+ "; use fewer, or sliding-window-counter for the policy");
			}
		}
	}

	private static int ofRequest(Algorithm algorithm, List<Limit> limits, Policy.Settings settings) {
		int most = limits.size() * of(algorithm, Limit.MAX_QUOTAS);
		return (most <= OF_A_CALL) ? most
				: limits.stream().mapToInt((limit) -> of(algorithm, mostQuotas(limit, settings))).sum();
	}

	private static int mostQuotas(Limit limit, Policy.Settings settings) {
		return settings.changes()
			.mapToInt((change) -> change.getOrDefault(limit.name(), List.of()).size())
			.reduce(limit.quotas().size(), Math::max);
	}

}
