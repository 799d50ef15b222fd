package dev.ratelimit.benchmarks.common;

import java.io.PrintWriter;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * A number that is reported and, if something was promised for it, judged.
 *
 * @param key its name in the JSON
 * @param must the bound that has to be kept, {@code null} if the number is only reported
 * @param aim the bound that is hoped for, {@code null} if there is none
 * @param atMost whether less is better
 */
public record Goal(String key, @Nullable Double must, @Nullable Double aim, boolean atMost) {

	public static Goal atLeast(String key, double must, double aim) {
		return new Goal(key, must, aim, false);
	}

	public static Goal atMost(String key, double must, double aim) {
		return new Goal(key, must, aim, true);
	}

	/** A number without a bound. */
	public static Goal reported(String key) {
		return new Goal(key, null, null, true);
	}

	public boolean kept(double value) {
		return reaches(this.must, value) || this.must == null;
	}

	private boolean reaches(@Nullable Double bound, double value) {
		return bound != null && (this.atMost ? value <= bound : value >= bound);
	}

	String verdict(double value) {
		if (reaches(this.aim, value)) {
			return "aim";
		}
		return (this.must == null) ? "" : kept(value) ? "ok" : "MISSED";
	}

	private String text(@Nullable Double bound) {
		return (bound != null) ? (this.atMost ? "<= " : ">= ") + String.format(Locale.ROOT, "%.2f", bound) : "";
	}

	public static void printHeader(PrintWriter out) {
		out.printf("| %-36s | %8s | %-17s | %-9s | %-9s | %-6s |%n", "number", "measured", "95 % interval", "must",
				"aim", "");
		out.printf("|%s|%s:|%s|%s|%s|%s|%n", "-".repeat(38), "-".repeat(9), "-".repeat(19), "-".repeat(11),
				"-".repeat(11), "-".repeat(8));
	}

	/** One line of the table of goals. */
	public void print(PrintWriter out, Median measured) {
		String interval = (measured.values() > 1)
				? String.format(Locale.ROOT, "%.2f – %.2f", measured.low(), measured.high()) : "";
		out.printf(Locale.ROOT, "| %-36s | %8.2f | %-17s | %-9s | %-9s | %-6s |%n", this.key, measured.value(),
				interval, text(this.must), text(this.aim), verdict(measured.value()));
	}

}
