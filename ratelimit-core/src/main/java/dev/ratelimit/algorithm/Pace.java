package dev.ratelimit.algorithm;

import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
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
	 * Unit of a stored rest: 1/100,000,000 of a microsecond for every quota, so that
	 * callers with different quotas can read the same state. A quota reads its own rest
	 * back exactly, because there are more parts than permits; another quota reads it to
	 * within 1/permits of a microsecond, at most a millionth of a permit.
	 */
	static final long PARTS = 100_000_000;

	/** Permits per window; also the denominator of every rest. */
	final long permits;

	/** Length of the window in microseconds. */
	final long window;

	final long burst;

	final long whole;

	final long part;

	/** Fill time of an empty counter in microseconds, rounded down. */
	final long full;

	final long fullRest;

	/** Tag of the window within a counter. */
	final int tag;

	/** Fill time of the slowest quota that shares the counter in this window. */
	final long longestFill;

	/** Permits of the largest quota that shares the counter in this window. */
	final long mostPermits;

	/** Windows of all callers that share the counter. */
	final List<LiveWindow> live;

	/**
	 * The pace of a quota whose counters no other quota shares.
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
	 * @param shared windows of all callers that share the counters
	 */
	public static Pace[] of(List<Quota> quotas, List<LiveWindow> shared) {
		List<LiveWindow> live = LiveWindows
			.merged(Stream.concat(shared.stream(), quotas.stream().map(LiveWindow::of)).toList());
		return quotas.stream().map((quota) -> new Pace(quota, live)).toArray(Pace[]::new);
	}

	/**
	 * The numbers for the script of an algorithm, in the order in which the script reads
	 * them.
	 */
	public static double[] numbers(Algorithm algorithm, Pace[] paces) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> numbers(paces, (pace) -> DoubleStream.of(pace.permits, pace.window, pace.burst,
					pace.whole, pace.part, pace.full, pace.fullRest, pace.tag, pace.longestFill));
			case FIXED_WINDOW, SLIDING_WINDOW_COUNTER ->
				numbers(paces, (pace) -> DoubleStream.of(pace.permits, pace.window, pace.tag, pace.mostPermits));
			case SLIDING_WINDOW_LOG -> logNumbers(paces);
		};
	}

	private static double[] numbers(Pace[] paces, Function<Pace, DoubleStream> numbers) {
		return Arrays.stream(paces).flatMapToDouble(numbers).toArray();
	}

	/**
	 * Number of quotas; permits and window of each quota; permits and length of each live
	 * window.
	 */
	private static double[] logNumbers(Pace[] paces) {
		DoubleStream own = Arrays.stream(paces).flatMapToDouble((pace) -> DoubleStream.of(pace.permits, pace.window));
		DoubleStream live = paces[0].live.stream()
			.flatMapToDouble((window) -> DoubleStream.of(window.mostPermits(), window.micros()));
		return DoubleStream.concat(DoubleStream.of(paces.length), DoubleStream.concat(own, live)).toArray();
	}

	/**
	 * Time after the last change for which the state of a counter matters: two windows,
	 * or the fill time of a used burst and of a burst owed; the longest of all callers
	 * that share the counter.
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

	/** Whole microseconds until this many permits come back. */
	long micros(long permits) {
		return permits * this.whole + permits * this.part / this.permits;
	}

	/** Fraction that {@link #micros} leaves out, in 1/permits of a microsecond. */
	long rest(long permits) {
		return permits * this.part % this.permits;
	}

	/** Fill time of an empty counter in microseconds, rounded up. */
	long fullUp() {
		return roundUp(this.full, this.fullRest);
	}

	/** Permits that come back in a time, at most the burst. */
	long permitsIn(long micros, long rest) {
		return permitsIn(micros, rest, this.burst);
	}

	/**
	 * Permits that come back in a time, at most this many. Floating point estimates the
	 * division to within one, then whole numbers correct it exactly.
	 */
	long permitsIn(long micros, long rest, long most) {
		if (micros < 0) {
			return 0;
		}
		long count = (long) Math.min(most, (double) micros * this.permits / this.window);
		while (count > 0 && !fits(count, micros, rest)) {
			count--;
		}
		while (count < most && fits(count + 1, micros, rest)) {
			count++;
		}
		return count;
	}

	private boolean fits(long count, long micros, long rest) {
		long needed = micros(count);
		return needed < micros || (needed == micros && rest(count) <= rest);
	}

	/**
	 * Start of the window that contains a time; windows are aligned to the epoch.
	 */
	long windowStart(long now) {
		return now - now % this.window;
	}

	/** Converts a stored rest to 1/permits of a microsecond. */
	long restOf(long stored) {
		return stored * this.permits / PARTS;
	}

	/** Converts a rest in 1/permits of a microsecond to its stored form. */
	long stored(long rest) {
		return (rest * PARTS + this.permits - 1) / this.permits;
	}

	static long roundUp(long micros, long rest) {
		return (rest > 0) ? micros + 1 : micros;
	}

}
