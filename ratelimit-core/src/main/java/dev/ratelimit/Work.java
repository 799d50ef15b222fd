package dev.ratelimit;

import java.util.List;
import java.util.Map;

/**
 * How much Redis has to do for a counter. Redis serves nobody else during a script call,
 * so a call may do only so much, and a policy must not want more than that for a single
 * request. One unit is about 1.5 µs of Redis's time on a machine with 2 cores;
 * {@code WorkIntegrationTests} measures what full calls take.
 */
public final class Work {

	/**
	 * The most that one call does, about half a millisecond. A request can need twice as
	 * much while the keys of hashed values change, because both counters are charged
	 * then: that is still less than a millisecond.
	 */
	public static final int OF_A_CALL = 300;

	private static final int OF_A_COUNTER = 2;

	/**
	 * Opening a log, and looking up what a quota has left in it, each reads about 50 of
	 * its entries one by one. A log counts as a full one: another caller's larger quota
	 * may have filled it.
	 */
	private static final int OF_A_LOOK_UP = 30;

	private Work() {
	}

	/**
	 * To take permits of a counter, or to look at it.
	 */
	public static int of(Algorithm algorithm, int quotas) {
		return switch (algorithm) {
			case GCRA -> OF_A_COUNTER + quotas;
			case TOKEN_BUCKET, SLIDING_WINDOW_COUNTER, FIXED_WINDOW -> OF_A_COUNTER + 2 * quotas;
			case SLIDING_WINDOW_LOG -> OF_A_LOOK_UP * (1 + quotas);
		};
	}

	/**
	 * To give permits back to a counter. In a log up to 400 later entries are written
	 * anew, and only Redis knows how many: such a give-back has a call to itself.
	 */
	public static int ofGiveBack(Algorithm algorithm, int quotas) {
		return (algorithm == Algorithm.SLIDING_WINDOW_LOG) ? OF_A_CALL : of(algorithm, quotas);
	}

	/**
	 * Checks that one call can decide a request, whichever tier and overrides the caller
	 * has. Only logs can be too much: the bounds on limits and quotas keep all other
	 * policies below.
	 * @param policy its id
	 * @param settings with its tiers and overrides
	 * @throws IllegalArgumentException saying what is too much
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
	 * Checks the same for an override that is written by itself. A caller can have
	 * several of them, each for another limit, and nobody sees them together: so what a
	 * policy leaves of a call is divided by its limits.
	 * @param override quotas by the name of the limit
	 * @throws IllegalArgumentException saying what is too much
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
