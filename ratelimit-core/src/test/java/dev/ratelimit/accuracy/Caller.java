package dev.ratelimit.accuracy;

import java.util.List;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;

/**
 * Somebody who asks for one permit at a time. Who is within its limit has a burst of a
 * second: requests that a busy machine holds up for as long arrive together.
 */
enum Caller {

	/** Asks for 80 % of the limit, of any instance. */
	EVEN(true, 400, "500/s"),

	/** The same, but nine in ten times of the first instance. */
	UNEVEN(true, 400, "500/s"),

	/** The same, but of one instance for 700 ms, then of the next one. */
	MOVING(true, 400, "500/s"),

	/** 80 % of a limit that is too small for each instance to lease any of it. */
	SMALL(true, 8, "10/s"),

	/** 80 % of the second of two quotas. */
	TWO_QUOTAS(true, 80, "1000/s", "6000/m burst 100"),

	/** Twice the limit. */
	ABOVE(false, 400, "200/s"),

	/** Far more than a quota of a month, which is used up after two seconds. */
	DRAINING(false, 300, "500/31d"),

	/**
	 * Each second little within 100 ms, so that it is given leases, and half a second
	 * later as much as it can get: what is left of them and a full counter.
	 */
	PULSING(false, 500, "200/s burst 100");

	private static final double LITTLE = 0.15;

	private final boolean within;

	private final int perSecond;

	private final Limit limit;

	Caller(boolean within, int perSecond, String... quotas) {
		this.within = within;
		this.perSecond = perSecond;
		this.limit = Limit.of("per-tenant", List.of(Dimension.TENANT), quotas);
	}

	/** Whether it asks for less than it may have. */
	boolean within() {
		return this.within;
	}

	/** How often it has asked by then. */
	long asked(double seconds) {
		double second = seconds % 1;
		double pulsed = LITTLE * Math.min(1, second * 10)
				+ (1 - LITTLE) * Math.max(0, Math.min(1, (second - 0.5) * 10));
		return (long) (this.perSecond * ((this != PULSING) ? seconds : seconds - second + pulsed));
	}

	/** Its counter, one for each way to enforce the limit. */
	Counter counter(Enforcement enforcement) {
		return new Counter(new CounterSpec(Algorithm.GCRA, this.limit, enforcement, new LiveWindows()),
				new CounterKeys("rl"), "accuracy", List.of(this + "-" + enforcement));
	}

	/** How many permits there are in such a time, beginning with a full counter. */
	double permits(double seconds) {
		return this.limit.quotas()
			.stream()
			.mapToDouble((quota) -> quota.burst() + quota.permits() * seconds / quota.window().toSeconds())
			.min()
			.orElseThrow();
	}

	/** Which of the instances is asked for the n-th time. */
	int instance(long number, int instances) {
		long random = (number * 0x9E3779B97F4A7C15L >>> 33);
		return (int) switch (this) {
			case UNEVEN -> (random % 10 != 0) ? 0 : random / 10 % instances;
			case MOVING -> number * 10 / (7L * this.perSecond) % instances;
			default -> random % instances;
		};
	}

}
