package dev.ratelimit.guard;

import java.util.concurrent.TimeUnit;

/**
 * Tells the time of day at a moment of {@link System#nanoTime()}. The clock of the day is
 * read once a second, so a change of it shows within a second.
 */
final class WallClock {

	private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

	private volatile Reading last = Reading.now();

	/**
	 * @param nanos a moment of the last second, or now
	 * @return microseconds since 1970
	 */
	long micros(long nanos) {
		Reading last = this.last;
		if (nanos - last.nanos > FRESH_NANOS) {
			last = Reading.now();
			this.last = last;
		}
		return last.micros + (nanos - last.nanos) / 1_000;
	}

	private record Reading(long nanos, long micros) {

		static Reading now() {
			long before = System.nanoTime();
			long micros = System.currentTimeMillis() * 1_000;
			return new Reading(before + (System.nanoTime() - before) / 2, micros);
		}

	}

}
