package dev.ratelimit.benchmarks.load;

import java.util.SplittableRandom;

/**
 * Draws ranks by Zipf's law: rank k is as likely as k to the power of minus the exponent.
 * Rejection inversion (W. Hörmann and G. Derflinger, "Rejection-inversion to generate
 * variates from monotone discrete distributions", 1996) needs no table, so five million
 * ranks cost no memory, and less than two draws of the generator each. StrictMath draws
 * the same ranks on every machine.
 */
final class Zipf {

	private final int ranks;

	private final double exponent;

	private final double first;

	private final double last;

	private final double accepted;

	/**
	 * Creates a distribution.
	 * @param ranks how many there are
	 * @param exponent above 0; 1 is allowed
	 */
	Zipf(int ranks, double exponent) {
		if (ranks < 1 || !(exponent > 0)) {
			throw new IllegalArgumentException("Zipf's law needs at least one rank and an exponent above 0, not "
					+ ranks + " ranks and " + exponent);
		}
		this.ranks = ranks;
		this.exponent = exponent;
		this.first = integral(1.5) - 1;
		this.last = integral(ranks + 0.5);
		this.accepted = 2 - inverse(integral(2.5) - density(2));
	}

	/** A rank, from 0 for the most frequent. */
	int next(SplittableRandom random) {
		while (true) {
			double drawn = this.last + random.nextDouble() * (this.first - this.last);
			double x = inverse(drawn);
			int rank = (int) Math.max(1, Math.min(this.ranks, Math.round(x)));
			if (rank - x <= this.accepted || drawn >= integral(rank + 0.5) - density(rank)) {
				return rank - 1;
			}
		}
	}

	private double density(double x) {
		return StrictMath.exp(-this.exponent * StrictMath.log(x));
	}

	/** The integral of the density, up to a constant. */
	private double integral(double x) {
		double log = StrictMath.log(x);
		return expm1(log * (1 - this.exponent)) * log;
	}

	private double inverse(double y) {
		double t = Math.max(-1, y * (1 - this.exponent));
		return StrictMath.exp(log1p(t) * y);
	}

	/** (e^x - 1) / x, by its series near 0. */
	private static double expm1(double x) {
		return (Math.abs(x) > 1e-8) ? StrictMath.expm1(x) / x : 1 + x / 2 * (1 + x / 3);
	}

	/** ln(1 + x) / x, by its series near 0. */
	private static double log1p(double x) {
		return (Math.abs(x) > 1e-8) ? StrictMath.log1p(x) / x : 1 - x * (0.5 - x / 3);
	}

}
