package dev.ratelimit.benchmarks.common;

import java.time.Duration;
import java.util.Locale;

/**
 * Shows on the error output how far one piece of work has come and how long the rest will
 * take, at most once a second.
 */
public final class TimeLeft {

	private static final long SECOND = 1_000_000_000;

	private final String name;

	private final long all;

	private final long start = System.nanoTime();

	private long shown = this.start;

	/**
	 * Starts the clock.
	 * @param name what is shown
	 * @param all how much there is to do, in any unit
	 */
	public TimeLeft(String name, long all) {
		this.name = name;
		this.all = Math.max(1, all);
	}

	/** Takes how much is done. */
	public void at(long done) {
		long now = System.nanoTime();
		boolean over = done >= this.all;
		if (over || now - this.shown >= SECOND) {
			this.shown = now;
			long left = (done == 0) ? 0 : (long) ((double) (now - this.start) / done * (this.all - done));
			System.err.printf(Locale.ROOT, "\r%-44s %3d %%, %s left %s", this.name,
					Math.min(100, 100 * done / this.all), text(Duration.ofNanos(left)), over ? "\n" : "");
		}
	}

	/** Minutes and seconds. */
	public static String text(Duration duration) {
		return String.format(Locale.ROOT, "%d:%02d min", duration.toMinutes(), duration.toSecondsPart());
	}

}
