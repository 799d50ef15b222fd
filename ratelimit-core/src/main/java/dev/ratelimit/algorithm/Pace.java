package dev.ratelimit.algorithm;

import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;
import dev.ratelimit.WindowTag;

/**
 * The exact arithmetic of a quota: how long permits take to come back, and how many come
 * back in a time.
 *
 * <p>
 * A permit comes back every window/permits microseconds, which is
 * {@code whole + part/permits} with {@code window = whole * permits + part}. A time is
 * therefore a pair: whole microseconds and a rest counted in 1/permits of a microsecond.
 * {@code permits * part} stays below 90,000,000², that is below 2^53, so that Lua's
 * doubles hold every number here exactly too; the scripts do the same steps in the same
 * order.
 */
public final class Pace {

	/**
	 * What a stored rest is counted in: parts of a microsecond that are the same for
	 * every quota, so that callers with different quotas read each other's. A rest of a
	 * quota survives being stored exactly, because there are more parts than permits;
	 * another quota reads it to within 1/permits of a microsecond, at most a millionth of
	 * a permit.
	 */
	static final long PARTS = 100_000_000;

	/** Permits per window; also the denominator of every rest. */
	final long permits;

	/** Length of the window in microseconds. */
	final long window;

	final long burst;

	final long whole;

	final long part;

	/** How long an empty counter takes to be full, rounded down. */
	final long full;

	final long fullRest;

	/** Names the window within a counter. */
	final int tag;

	/**
	 * How long the slowest quota that shares the counter takes from empty to full in this
	 * window.
	 */
	final long longestFill;

	/** The permits of the largest quota that shares the counter in this window. */
	final long mostPermits;

	/** All windows that somebody is counted in on the counter. */
	final List<LiveWindow> live;

	/**
	 * The pace of a quota that shares its counters with no other.
	 */
	Pace(Quota quota) {
		this(quota, List.of());
	}

	private Pace(Quota quota, List<LiveWindow> live) {
		this.permits = quota.permits();
		this.window = quota.window().toSeconds() * 1_000_000;
		this.burst = quota.burst();
		this.whole = this.window / this.permits;
		this.part = this.window % this.permits;
		this.full = micros(this.burst);
		this.fullRest = rest(this.burst);
		this.tag = WindowTag.of(quota.window());
		this.live = live;
		long longestFill = fullUp();
		long mostPermits = this.permits;
		for (LiveWindow other : live) {
			if (other.micros() == this.window) {
				longestFill = Math.max(longestFill, other.longestFill());
				mostPermits = Math.max(mostPermits, other.mostPermits());
			}
		}
		this.longestFill = longestFill;
		this.mostPermits = mostPermits;
	}

	/**
	 * One pace per quota of a limit, in their order.
	 */
	public static Pace[] of(List<Quota> quotas) {
		return of(quotas, List.of());
	}

	/**
	 * One pace per quota of a limit, in their order.
	 * @param shared the windows of all who share the counters
	 */
	public static Pace[] of(List<Quota> quotas, List<LiveWindow> shared) {
		List<LiveWindow> live = LiveWindows
			.merged(Stream.concat(shared.stream(), quotas.stream().map(LiveWindow::of)).toList());
		return quotas.stream().map((quota) -> new Pace(quota, live)).toArray(Pace[]::new);
	}

	/**
	 * The numbers that the script of an algorithm needs, in the order in which it reads
	 * them.
	 */
	public static double[] numbers(Algorithm algorithm, Pace[] paces) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> Arrays.stream(paces).flatMapToDouble(Pace::fillNumbers).toArray();
			case FIXED_WINDOW, SLIDING_WINDOW_COUNTER ->
				Arrays.stream(paces).flatMapToDouble(Pace::windowNumbers).toArray();
			case SLIDING_WINDOW_LOG -> logNumbers(paces);
		};
	}

	private DoubleStream fillNumbers() {
		return DoubleStream.of(this.permits, this.window, this.burst, this.whole, this.part, this.full, this.fullRest,
				this.tag, this.longestFill);
	}

	private DoubleStream windowNumbers() {
		return DoubleStream.of(this.permits, this.window, this.tag, this.mostPermits);
	}

	/** How many quotas, permits and window of each, then of all windows on the log. */
	private static double[] logNumbers(Pace[] paces) {
		DoubleStream own = Arrays.stream(paces).flatMapToDouble((pace) -> DoubleStream.of(pace.permits, pace.window));
		DoubleStream live = paces[0].live.stream()
			.flatMapToDouble((window) -> DoubleStream.of(window.mostPermits(), window.micros()));
		return DoubleStream.concat(DoubleStream.of(paces.length), DoubleStream.concat(own, live)).toArray();
	}

	/**
	 * How long the state of a counter can matter after its last change: two windows, or a
	 * burst and another one owed, of whoever shares it.
	 */
	public static long lifetimeMicros(Pace[] paces) {
		long longest = 0;
		for (Pace pace : paces) {
			longest = Math.max(longest, Math.max(pace.window, pace.longestFill));
		}
		for (LiveWindow other : paces[0].live) {
			longest = Math.max(longest, Math.max(other.micros(), other.longestFill()));
		}
		return 2 * longest;
	}

	/** Whole microseconds that this many permits take. */
	long micros(long permits) {
		return permits * this.whole + permits * this.part / this.permits;
	}

	/** What is left of {@link #micros} in 1/permits of a microsecond. */
	long rest(long permits) {
		return permits * this.part % this.permits;
	}

	/** How long an empty counter takes to be full, rounded up. */
	long fullUp() {
		return roundUp(this.full, this.fullRest);
	}

	/**
	 * How many permits come back in a time, at most the burst. The division is estimated
	 * in floating point, which is off by at most one, and then corrected exactly.
	 */
	long permitsIn(long micros, long rest) {
		if (micros < 0) {
			return 0;
		}
		long count = (long) Math.min(this.burst, (double) micros * this.permits / this.window);
		while (count > 0 && !fits(count, micros, rest)) {
			count--;
		}
		while (count < this.burst && fits(count + 1, micros, rest)) {
			count++;
		}
		return count;
	}

	private boolean fits(long count, long micros, long rest) {
		long needed = micros(count);
		return needed < micros || (needed == micros && rest(count) <= rest);
	}

	/**
	 * The start of the window that a time falls into; windows are aligned to the epoch.
	 */
	long windowStart(long now) {
		return now - now % this.window;
	}

	/** A stored rest in 1/permits of a microsecond. */
	long restOf(long stored) {
		return stored * this.permits / PARTS;
	}

	/** A rest in 1/permits of a microsecond as it is stored. */
	long stored(long rest) {
		return (rest * PARTS + this.permits - 1) / this.permits;
	}

	static long roundUp(long micros, long rest) {
		return (rest > 0) ? micros + 1 : micros;
	}

}
