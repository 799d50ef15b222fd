package dev.ratelimit.benchmarks.lab;

import java.util.Locale;

import dev.ratelimit.benchmarks.common.Median;

/**
 * Whether something that was promised held.
 *
 * @param name what was promised
 * @param correctness whether it is about right answers, not about speed: a broken one
 * fails the command
 * @param measured the value, in words
 * @param result whether it held
 */
public record Verdict(String name, boolean correctness, String measured, Result result) {

	/** A bound on answers. */
	public static Verdict bound(String name, boolean kept, String measured) {
		return new Verdict(name, true, measured, kept ? Result.MET : Result.NOT_MET);
	}

	/** A service level that is met or not. */
	public static Verdict level(String name, boolean met, String measured) {
		return new Verdict(name, false, measured, met ? Result.MET : Result.NOT_MET);
	}

	/** A service level that this machine cannot show, with the reason. */
	public static Verdict unresolvable(String name, String reason) {
		return new Verdict(name, false, reason, Result.NOT_RESOLVABLE);
	}

	/**
	 * A service level of a number that differs from turn to turn: it is only decided if
	 * the whole interval of the median is on one side.
	 */
	public static Verdict atMost(String name, Median measured, double bound, String unit) {
		Result result = (measured.high() <= bound) ? Result.MET
				: (measured.low() > bound) ? Result.NOT_MET : Result.NOT_RESOLVABLE;
		return new Verdict(name, false,
				String.format(Locale.ROOT, "%,.3f %s (%,.3f to %,.3f in %d turns), must be at most %,.3f",
						measured.value(), unit, measured.low(), measured.high(), measured.values(), bound),
				result);
	}

	/** Whether it fails the command. */
	public boolean broken() {
		return this.correctness && this.result == Result.NOT_MET;
	}

	/** What came out. */
	public enum Result {

		MET("met"), NOT_MET("not met"), NOT_RESOLVABLE("not resolvable on this machine");

		private final String text;

		Result(String text) {
			this.text = text;
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

}
