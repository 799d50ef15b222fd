package dev.ratelimit.refusal;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A number of permits per second. When they are used up, asking is one read.
 */
final class SecondBudget {

	private static final int BITS = 20;

	private static final long NANOS = 1_000_000_000;

	private final int most;

	/** The second, and in the lower bits the permits taken in it. */
	private final AtomicLong state = new AtomicLong(Long.MIN_VALUE);

	SecondBudget(int most) {
		this.most = most;
	}

	boolean take(long nanos) {
		long second = Math.floorDiv(nanos, NANOS);
		while (true) {
			long seen = this.state.get();
			// A thread that read the clock earlier counts in the later second.
			boolean fresh = second > seen >> BITS;
			long used = fresh ? 0 : seen & ((1 << BITS) - 1);
			if (used >= this.most) {
				return false;
			}
			if (this.state.compareAndSet(seen, fresh ? (second << BITS) + 1 : seen + 1)) {
				return true;
			}
		}
	}

}
