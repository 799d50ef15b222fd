package dev.ratelimit.counter;

import java.util.ArrayList;
import java.util.List;

import dev.ratelimit.LimitStatus;

/**
 * The state of a counter right after a decision.
 */
public class Reading {

	private final Counter counter;

	private final long[] state;

	private final long time;

	private final long ahead;

	private final List<Taken> earlier;

	/**
	 * @param counter the counter that was read
	 * @param state its state, not to be changed
	 * @param time when it was read, in microseconds of the clock of the store
	 * @param ahead permits that the state counts as taken but this reading does not
	 * @param earlier permits of the grant that were taken before {@code time}, the newest
	 * first; all others were taken at {@code time}
	 */
	public Reading(Counter counter, long[] state, long time, long ahead, List<Taken> earlier) {
		this.counter = counter;
		this.state = state;
		this.time = time;
		this.ahead = ahead;
		this.earlier = earlier;
	}

	public Reading(Counter counter, long[] state, long time, long ahead) {
		this(counter, state, time, ahead, List.of());
	}

	public Reading(Counter counter, long[] state, long time) {
		this(counter, state, time, 0);
	}

	public final Counter counter() {
		return this.counter;
	}

	public final long[] state() {
		return this.state;
	}

	public final long time() {
		return this.time;
	}

	/**
	 * The same by the clock of the node that has the counter's key, negative if that is
	 * not known: parts of a counter may be on nodes whose clocks differ.
	 */
	public long timeAtKey() {
		return this.time;
	}

	public final long ahead() {
		return this.ahead;
	}

	public final List<Taken> earlier() {
		return this.earlier;
	}

	/**
	 * The reading without some permits that the state counts as taken: they were given
	 * back, or others took them later.
	 */
	public Reading without(long permits) {
		return new Reading(this.counter, this.state, this.time, this.ahead + permits, this.earlier);
	}

	/**
	 * The counter as it would be if these permits were taken now.
	 */
	public Reading afterTaking(long permits) {
		CounterSpec spec = this.counter.spec();
		long[] settled = spec.formula().settle(this.state, spec.paces(), this.time);
		return new Reading(this.counter, spec.formula().take(settled, spec.paces(), this.time, permits), this.time);
	}

	/**
	 * The reading of a grant that earlier permits pay a part of.
	 * @param earlier the newest first
	 */
	public Reading with(List<Taken> earlier) {
		return new Reading(this.counter, this.state, this.time, this.ahead, earlier);
	}

	/**
	 * The reading of the counter that granted: this one, unless it is the reading of a
	 * counter in parts.
	 */
	public Reading granting() {
		return this;
	}

	/**
	 * When the permits of a grant were taken.
	 * @param granted permits of the grant
	 * @param permits how many of them to return, beginning with the newest
	 * @return the newest first, never 0 permits
	 */
	public List<Taken> taken(long granted, long permits) {
		long newest = granted - takenEarlier();
		List<Taken> taken = new ArrayList<>(this.earlier.size() + 1);
		if (Math.min(newest, permits) > 0) {
			taken.add(new Taken(this.time, Math.min(newest, permits)));
		}
		taken.addAll(earlier(0, permits - newest));
		return taken;
	}

	/**
	 * The reading of the same grant after its newest permits were given back.
	 */
	public Reading afterReturn(long granted, long returned) {
		long fromEarlier = returned - (granted - takenEarlier());
		return (fromEarlier <= 0) ? this : with(earlier(fromEarlier, takenEarlier()));
	}

	private long takenEarlier() {
		return this.earlier.stream().mapToLong(Taken::permits).sum();
	}

	/** Earlier permits, the newest first, from one to another. */
	private List<Taken> earlier(long from, long to) {
		List<Taken> some = new ArrayList<>(this.earlier.size());
		long start = 0;
		for (Taken part : this.earlier) {
			long permits = Math.min(start + part.permits(), to) - Math.max(start, from);
			if (permits > 0) {
				some.add(new Taken(part.time(), permits));
			}
			start += part.permits();
		}
		return some;
	}

	/**
	 * Permits that are left under all quotas.
	 */
	public long available() {
		CounterSpec spec = this.counter.spec();
		long[] settled = spec.formula().settle(this.state, spec.paces(), this.time);
		return spec.formula().available(settled, spec.paces(), this.time) + this.ahead;
	}

	/**
	 * Microseconds from the reading until this many permits are left; negative if they
	 * never are.
	 */
	public long waitFor(long permits) {
		CounterSpec spec = this.counter.spec();
		if (permits > spec.largestCost()) {
			return -1;
		}
		long[] settled = spec.formula().settle(own(), spec.paces(), this.time);
		long longest = 0;
		for (int quota = 0; quota < spec.paces().length; quota++) {
			longest = Math.max(longest, spec.formula().wait(settled, spec.paces(), quota, this.time, permits));
		}
		return longest;
	}

	/**
	 * Whether fewer permits than these are left.
	 */
	public boolean lacks(long permits) {
		return available() < permits;
	}

	/**
	 * Adds the status of each quota.
	 * @param least permits that the caller would have accepted
	 * @param granted permits that the caller got
	 * @param statuses where to add
	 */
	public void describe(long least, long granted, List<LimitStatus> statuses) {
		this.counter.spec().describe(own(), this.time, least, granted, statuses);
	}

	/** State as if {@code ahead} permits had not been taken. */
	private long[] own() {
		if (this.ahead == 0) {
			return this.state;
		}
		CounterSpec spec = this.counter.spec();
		long[] settled = spec.formula().settle(this.state, spec.paces(), this.time);
		return spec.formula().giveBack(settled, spec.paces(), this.time, this.time, this.ahead);
	}

	/**
	 * Permits that were taken at one time.
	 *
	 * @param time in microseconds of the clock of the store that granted them
	 * @param permits how many
	 */
	public record Taken(long time, long permits) {
	}

}
