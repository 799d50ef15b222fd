package dev.ratelimit.benchmarks.lab;

/**
 * Finds the highest rate that is kept up: larger and larger steps until one fails, then
 * smaller ones between.
 */
public final class Ceiling {

	private static final double STEP = 1.5;

	private Ceiling() {
	}

	/**
	 * Searches.
	 * @param first rate that is tried
	 * @param most rate that is tried
	 * @param halvings further steps between the highest that was kept up and the lowest
	 * that was not
	 * @return the highest that was kept up, 0 if none
	 */
	public static double search(double first, double most, int halvings, Step step) throws Exception {
		double kept = 0;
		double failed = Double.POSITIVE_INFINITY;
		for (double rate = first; rate <= most && Double.isInfinite(failed); rate *= STEP) {
			if (step.keepsUp(rate)) {
				kept = rate;
			}
			else {
				failed = rate;
			}
		}
		for (int i = 0; i < halvings && !Double.isInfinite(failed); i++) {
			double middle = (kept + failed) / 2;
			if (step.keepsUp(middle)) {
				kept = middle;
			}
			else {
				failed = middle;
			}
		}
		return kept;
	}

	/** Tries a rate. */
	public interface Step {

		boolean keepsUp(double rate) throws Exception;

	}

}
