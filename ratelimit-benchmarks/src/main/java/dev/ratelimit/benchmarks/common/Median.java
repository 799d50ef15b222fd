package dev.ratelimit.benchmarks.common;

import java.util.Arrays;
import java.util.Collection;

/**
 * A median with its 95 % interval. The interval assumes no distribution: its ends are the
 * values between which the true median lies with at least 95 % probability, by the
 * binomial distribution of the number of values below it. Fewer than six values cannot
 * have such an interval; theirs is from the smallest to the largest.
 *
 * @param value the median
 * @param low lower end of the interval
 * @param high upper end
 * @param values how many there were
 */
public record Median(double value, double low, double high, int values) {

	private static final double TAIL = 0.025;

	public static Median of(Collection<Double> values) {
		return of(values.stream().mapToDouble(Double::doubleValue).toArray());
	}

	public static Median of(double... values) {
		if (values.length == 0) {
			throw new IllegalArgumentException("a median needs at least one value");
		}
		double[] sorted = values.clone();
		Arrays.sort(sorted);
		int count = sorted.length;
		int rank = Math.max(1, rank(count));
		double middle = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
		return new Median(middle, sorted[rank - 1], sorted[count - rank], count);
	}

	/**
	 * The largest rank such that fewer values than this are below the true median with at
	 * most 2.5 % probability; 0 if there is none.
	 */
	static int rank(int count) {
		double probability = Math.pow(0.5, count);
		double below = probability;
		int rank = 0;
		while (below <= TAIL) {
			rank++;
			probability *= (double) (count - rank + 1) / rank;
			below += probability;
		}
		return rank;
	}

	/** How far the interval reaches, from end to end. */
	public double width() {
		return this.high - this.low;
	}

}
