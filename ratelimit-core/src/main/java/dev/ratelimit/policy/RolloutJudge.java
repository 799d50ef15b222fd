package dev.ratelimit.policy;

import java.util.List;

/**
 * Decides whether a new version of a policy refuses so much more than the previous one
 * that it must be rolled back. A pure function; other classes count the decisions and act
 * on the verdict.
 *
 * <p>
 * Refusals cluster: one caller that is over its limit is refused a thousand times, and
 * these are not a thousand independent observations. So groups of callers are compared,
 * not requests: each of 64 buckets gives one observation, the difference between the
 * refusals of both versions for the same requests, and the mean of these differences is
 * compared with its standard error. A difference is divided by the square root of the
 * bucket's requests: plain numbers would let large callers decide, rates small ones, and
 * doubled refusals would be found less often. A single caller changes one bucket, which
 * raises the mean and the standard error alike: alone it never exceeds one standard
 * error.
 *
 * <p>
 * The test fails in two ways. A change that refuses some callers more and others less can
 * be rolled back by chance, and a change that hurts few callers passes: fewer than about
 * six of 64 buckets are never significant. Both rates are measured by a simulation; the
 * table is in {@code docs/control-plane.md}.
 */
public final class RolloutJudge {

	/** Fewest buckets with decisions; with fewer, the standard error means little. */
	public static final int LEAST_BUCKETS = 16;

	/** Number of standard errors that leads to a rollback at the end of a hold. */
	public static final double SIGMAS = 2.3;

	/** Smallest share of additional refusals that matters. */
	static final double LEAST_DIFFERENCE = 0.005;

	private RolloutJudge() {
	}

	/**
	 * Judges a new version.
	 * @param sigmas number of standard errors that leads to a rollback; callers that
	 * judge often need more than {@link #SIGMAS}, because chance alone exceeds it now and
	 * then
	 * @param expected share of additional refusals that the author expects, such as 0.05
	 */
	public static Verdict judge(List<BucketTally> buckets, double sigmas, double expected) {
		int filled = 0;
		double sum = 0;
		double squares = 0;
		for (BucketTally bucket : buckets) {
			if (bucket.decisions() > 0) {
				double excess = bucket.excess(expected);
				filled++;
				sum += excess;
				squares += excess * excess;
			}
		}
		if (filled < LEAST_BUCKETS) {
			return Verdict.TOO_FEW;
		}
		double mean = sum / filled;
		double variance = Math.max(0, squares - sum * mean) / (filled - 1);
		boolean significant = mean > sigmas * Math.sqrt(variance / filled);
		return (significant && difference(buckets) >= LEAST_DIFFERENCE + expected) ? Verdict.ROLL_BACK : Verdict.KEEP;
	}

	/**
	 * Whether callers of enough buckets were compared.
	 */
	public static boolean isEnough(List<BucketTally> buckets) {
		return buckets.stream().filter((bucket) -> bucket.decisions() > 0).count() >= LEAST_BUCKETS;
	}

	/**
	 * How much more the new version refuses, as a share of all requests.
	 */
	public static double difference(List<BucketTally> buckets) {
		return sum(buckets).difference();
	}

	/**
	 * All buckets together.
	 */
	public static BucketTally sum(List<BucketTally> buckets) {
		return buckets.stream().reduce(new BucketTally(0, 0, 0), BucketTally::plus);
	}

	/** Result of the test. */
	public enum Verdict {

		/** Keep the new version. */
		KEEP,

		/** Roll back: the new version refuses more than chance explains. */
		ROLL_BACK,

		/** Callers of too few buckets to judge. */
		TOO_FEW

	}

}
