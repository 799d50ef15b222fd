package dev.ratelimit.algorithm;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import dev.ratelimit.Quota;

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

	/** How many {@link #numbers} there are. */
	public static final int NUMBERS = 8;

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

	/**
	 * Names the window within a counter, so that a quota finds its state again after a
	 * change of policy.
	 */
	final int tag;

	public Pace(Quota quota) {
		this(quota, tag(quota.window().toSeconds()));
	}

	private Pace(Quota quota, int tag) {
		this.permits = quota.permits();
		this.window = quota.window().toSeconds() * 1_000_000;
		this.burst = quota.burst();
		this.whole = this.window / this.permits;
		this.part = this.window % this.permits;
		this.full = micros(this.burst);
		this.fullRest = rest(this.burst);
		this.tag = tag;
	}

	/**
	 * One pace per quota of a limit, in their order, each with a tag of its own: of two
	 * windows with one tag the longer takes the next free one.
	 */
	public static Pace[] of(List<Quota> quotas) {
		Pace[] paces = new Pace[quotas.size()];
		Set<Integer> taken = new HashSet<>();
		quotas.stream().sorted(Comparator.comparing(Quota::window)).forEach((quota) -> {
			int tag = tag(quota.window().toSeconds());
			while (!taken.add(tag)) {
				tag = (tag < 999) ? tag + 1 : 400;
			}
			paces[quotas.indexOf(quota)] = new Pace(quota, tag);
		});
		return paces;
	}

	/**
	 * The numbers that a script needs, in the order in which it reads them.
	 */
	public double[] numbers() {
		return new double[] { this.permits, this.window, this.burst, this.whole, this.part, this.full, this.fullRest,
				this.tag };
	}

	/**
	 * How long a counter's state can matter after its last change: two windows, or a
	 * burst and another one owed.
	 */
	public long lifetimeMicros() {
		return 2 * Math.max(this.window, fullUp());
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

	static long roundUp(long micros, long rest) {
		return (rest > 0) ? micros + 1 : micros;
	}

	/**
	 * Three digits for a window: 1–99 of seconds, minutes, hours or days have a tag of
	 * their own, all others share the range from 400. Two windows with one tag only pass
	 * their state on to each other when a policy is changed from the one to the other.
	 */
	static int tag(long seconds) {
		long[] units = { 1, 60, 3_600, 86_400 };
		for (int unit = units.length - 1; unit >= 0; unit--) {
			long count = seconds / units[unit];
			if (seconds % units[unit] == 0 && count >= 1 && count <= 99) {
				return (int) (unit * 100 + count);
			}
		}
		return (int) (400 + seconds % 600);
	}

}
