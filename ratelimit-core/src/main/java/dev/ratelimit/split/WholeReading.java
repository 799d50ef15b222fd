package dev.ratelimit.split;

import java.util.ArrayList;
import java.util.List;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;

/**
 * The reading of a whole counter, made from readings of its parts. The remaining permits
 * of the parts are added up; parts that were not read are taken to be like the others. A
 * request that no part had room for may come again when the first of them has.
 */
final class WholeReading extends Reading {

	private final List<Reading> parts;

	private final long timeAtKey;

	/**
	 * @param parts readings of its parts, beginning with the one that was asked last
	 */
	WholeReading(Counter whole, List<Reading> parts) {
		this(whole, parts, -1);
	}

	/**
	 * @param timeAtKey when the node of the first part answered, by its clock; negative
	 * if it did not
	 */
	WholeReading(Counter whole, List<Reading> parts, long timeAtKey) {
		super(whole, parts.get(0).state(), parts.get(0).time(), parts.get(0).ahead(), parts.get(0).earlier());
		this.parts = parts;
		this.timeAtKey = timeAtKey;
	}

	/**
	 * The reading of a counter that may be split.
	 * @param readings those of its parts, or its own
	 */
	static Reading of(Counter counter, List<Reading> readings) {
		Reading first = readings.get(0);
		return (first.counter().spec().whole() != null) ? new WholeReading(counter, readings) : first;
	}

	/** A request gets permits of one part only: the one that was asked last. */
	@Override
	public Reading granting() {
		return this.parts.get(0);
	}

	@Override
	public long timeAtKey() {
		return this.timeAtKey;
	}

	@Override
	public boolean lacks(long permits) {
		return this.parts.stream().anyMatch((part) -> part.lacks(permits));
	}

	@Override
	public Reading afterReturn(long granted, long returned) {
		return new WholeReading(counter(), List.of(this.parts.get(0).afterReturn(granted, returned)));
	}

	@Override
	public void describe(long least, long granted, List<LimitStatus> statuses) {
		List<List<LimitStatus>> parts = new ArrayList<>(this.parts.size());
		for (Reading reading : this.parts) {
			List<LimitStatus> part = new ArrayList<>();
			reading.describe(least, granted, part);
			parts.add(part);
		}
		List<LimitStatus> soonest = soonest(parts);
		List<Quota> quotas = counter().spec().limit().quotas();
		for (int i = 0; i < quotas.size(); i++) {
			Quota quota = quotas.get(i);
			long remaining = 0;
			long burst = 0;
			long reset = 0;
			long next = 0;
			for (List<LimitStatus> part : parts) {
				LimitStatus status = part.get(i);
				remaining += status.remaining();
				burst += status.quota().burst();
				reset = Math.max(reset, status.resetAfterMicros());
				next = (next == 0) ? status.nextAfterMicros()
						: (status.nextAfterMicros() == 0) ? next : Math.min(next, status.nextAfterMicros());
			}
			statuses.add(new LimitStatus(counter().spec().limit(), quota, remaining * quota.burst() / burst, reset,
					soonest.get(i).retryAfterMicros(), next));
		}
	}

	/** The part whose longest wait is the shortest. */
	private static List<LimitStatus> soonest(List<List<LimitStatus>> parts) {
		List<LimitStatus> soonest = parts.get(0);
		for (List<LimitStatus> part : parts) {
			soonest = (longestWait(part) < longestWait(soonest)) ? part : soonest;
		}
		return soonest;
	}

	private static long longestWait(List<LimitStatus> part) {
		long longest = 0;
		for (LimitStatus status : part) {
			longest = status.neverFits() ? Long.MAX_VALUE : Math.max(longest, status.retryAfterMicros());
			if (longest == Long.MAX_VALUE) {
				return longest;
			}
		}
		return longest;
	}

}
