package dev.ratelimit.lease;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The largest cost of the last minute, to within nine seconds. The next request may cost
 * as much, so leases leave as many permits in Redis.
 *
 * <p>
 * A ring has one place per 2<sup>33</sup> ns, 8.6 s. A place holds the number of its
 * interval in the high bits and the cost in the low ones. So the larger number always
 * wins, whether by a larger cost or a later time, and a cost that is already known needs
 * no write.
 */
final class LargestCosts {

	private static final int SLOT_BITS = 33;

	/** Seven that are over and the current one make at least a minute. */
	private static final int SLOTS = 8;

	/** Enough for the largest cost there is, 90,000,000. */
	private static final int COST_BITS = 27;

	private final AtomicLongArray ring = new AtomicLongArray(SLOTS);

	private final long start;

	LargestCosts(long now) {
		this.start = now;
	}

	void add(long cost, long now) {
		long slot = slot(now);
		int place = (int) slot & SLOTS - 1;
		long fresh = slot << COST_BITS | cost;
		long known = this.ring.get(place);
		while (known < fresh && !this.ring.weakCompareAndSetVolatile(place, known, fresh)) {
			known = this.ring.get(place);
		}
	}

	/**
	 * The largest cost, 0 if there was none.
	 */
	long largest(long now) {
		long slot = slot(now);
		long largest = 0;
		for (int place = 0; place < SLOTS; place++) {
			long known = this.ring.get(place);
			if (slot - (known >> COST_BITS) < SLOTS) {
				largest = Math.max(largest, known & (1L << COST_BITS) - 1);
			}
		}
		return largest;
	}

	private long slot(long now) {
		return Math.max(0, now - this.start) >> SLOT_BITS;
	}

}
