package dev.ratelimit.hot;

/**
 * The numbers of checks that make a counter hot, or a candidate, in one instance of a
 * fleet.
 *
 * @param life intervals that a sketch counts before it is replaced
 * @param enough checks of an interval that make a counter hot
 * @param lowestBar fewest checks in the life of a sketch that make a counter a candidate
 */
record Thresholds(int life, int enough, int lowestBar) {

	/** Checks that no instance reports are at most the threshold divided by this. */
	private static final int FRACTION = 16;

	/** Fewer checks in an interval make no counter hot. */
	private static final int LEAST_ENOUGH = 8;

	/** Fewer checks while a sketch counts make no counter a candidate. */
	private static final int LEAST_BAR = 2;

	/** Intervals that a sketch counts in a large fleet: a second. */
	private static final int LONG_LIFE = 4;

	/**
	 * Standard deviations that a counter at half of its share must not exceed by chance.
	 */
	private static final int DEVIATIONS = 6;

	private static final int MOST = Integer.MAX_VALUE / LONG_LIFE;

	/**
	 * The numbers for one instance. A counter is hot with this instance's share of the
	 * threshold, and with so many checks that a counter at half of the threshold does not
	 * get there by chance: with a share of 8, a counter at 0.4 times the threshold has 8
	 * checks in every sixtieth interval. A single instance sees all checks, so its share
	 * is enough.
	 * @param threshold checks per second over the fleet that make a counter hot
	 */
	static Thresholds of(long threshold, int instances) {
		double share = (double) threshold / instances * HotCounters.INTERVAL_NANOS / HotCounters.SECOND_NANOS;
		double chance = (instances > 1) ? share / 2 + DEVIATIONS * Math.sqrt(share / 2) : 0;
		int life = (share < LEAST_BAR * FRACTION) ? LONG_LIFE : 1;
		return new Thresholds(life, (int) Math.min(MOST, Math.ceil(Math.max(LEAST_ENOUGH, Math.max(share, chance)))),
				(int) Math.min(MOST, Math.max(LEAST_BAR, life * share / FRACTION)));
	}

}
