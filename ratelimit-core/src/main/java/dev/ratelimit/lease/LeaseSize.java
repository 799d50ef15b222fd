package dev.ratelimit.lease;

/**
 * The size of the next lease: the permits spent in one refresh interval, one more after
 * each lease that was spent in full, and half as many after Redis granted too few. Used
 * by one thread at a time.
 */
final class LeaseSize {

	private static final double SECOND = 1e9;

	private double rate;

	private long extra;

	private long ceiling = Long.MAX_VALUE;

	/**
	 * Measures spent permits. A measurement weighs as much as it lasted, otherwise two
	 * simultaneous requests without a lease would look like a flood.
	 * @param permits how many were spent
	 * @param elapsed in how many nanoseconds
	 * @param interval nanoseconds that a lease should last
	 */
	void spent(long permits, long elapsed, long interval) {
		double nanos = Math.max(1, elapsed);
		double fresh = Math.max(0, permits) * SECOND / nanos;
		this.rate = (this.rate == 0) ? fresh : this.rate + (fresh - this.rate) * nanos / (nanos + interval);
	}

	/**
	 * How many permits to ask for.
	 * @param interval nanoseconds that they should last
	 * @param most how many can be taken without harm to others
	 */
	long next(long interval, long most) {
		long needed = (long) (this.rate * interval / SECOND);
		long size = Math.max(0, Math.min(Math.min(needed + this.extra, this.ceiling), most));
		// Permits that could not be asked for must not pile up.
		this.extra = Math.min(this.extra, Math.max(0, size - needed));
		return size;
	}

	/**
	 * A lease ended.
	 * @param unspent permits that expired with it
	 */
	void ended(long unspent) {
		if (unspent > 0) {
			this.extra = Math.max(0, this.extra - unspent);
		}
		else {
			this.extra++;
			this.ceiling = (this.ceiling == Long.MAX_VALUE) ? this.ceiling : this.ceiling + 1;
		}
	}

	/**
	 * Redis granted less than was asked for.
	 */
	void refused(long wanted) {
		this.ceiling = Math.max(1, wanted / 2);
		this.extra = 0;
	}

}
