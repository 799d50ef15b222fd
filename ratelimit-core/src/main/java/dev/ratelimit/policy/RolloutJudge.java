package dev.ratelimit.policy;

/**
 * Says whether a new version of a policy refuses so much more than the one before it that
 * it has to go: a two-proportion z-test. Pure; who counts and who acts is somebody else.
 */
public final class RolloutJudge {

	/** Of each version; with fewer a rate says little. */
	public static final long LEAST_DECISIONS = 200;

	/** Fewer than this are chance whatever the test says: it is for large numbers. */
	public static final long LEAST_REFUSALS = 5;

	/** How many standard deviations are too many. */
	public static final double SIGMAS = 2;

	private RolloutJudge() {
	}

	/**
	 * What to do with a new version.
	 * @param previous what the version before it decided meanwhile
	 * @param next what it decided itself
	 */
	public static Verdict judge(Tally previous, Tally next) {
		return judge(previous, next, SIGMAS);
	}

	/**
	 * The same for who looks often: chance goes beyond two standard deviations now and
	 * then.
	 * @param sigmas how many are too many
	 */
	public static Verdict judge(Tally previous, Tally next, double sigmas) {
		if (previous.decisions() < LEAST_DECISIONS || next.decisions() < LEAST_DECISIONS) {
			return Verdict.TOO_FEW;
		}
		double worse = next.rate() - previous.rate();
		if (worse <= 0 || next.refusals() < LEAST_REFUSALS) {
			return Verdict.KEEP;
		}
		double pooled = previous.plus(next).rate();
		double sigma = Math.sqrt(pooled * (1 - pooled) * (1.0 / previous.decisions() + 1.0 / next.decisions()));
		return (worse > sigmas * sigma) ? Verdict.ROLL_BACK : Verdict.KEEP;
	}

	/**
	 * What to do.
	 */
	public enum Verdict {

		/** Nothing speaks against it. */
		KEEP,

		/** It refuses more than chance explains. */
		ROLL_BACK,

		/** Nothing can be said yet. */
		TOO_FEW

	}

}
