package dev.ratelimit.lease;

/**
 * How large the next lease should be: what is spent in one refresh interval, one more
 * each time that was spent in full, and half as much when Redis could not give it. Used
 * by one thread at a time.
 */
final class LeaseSize {

	private static final double SECOND = 1e9;

	private double rate;

	private long extra;

	private long ceiling = Long.MAX_VALUE;

	/**
	 * Permits were spent. A time weighs as much as it lasted, or two requests that come
	 * together while no lease can be had would look like a flood.
	 * @param permits how many
	 * @param elapsed in how many nanoseconds
	 * @param interval for how many nanoseconds a lease should last
	 */
	void spent(long permits, long elapsed, long interval) {
		double nanos = Math.max(1, elapsed);
		double fresh = Math.max(0, permits) * SECOND / nanos;
		this.rate = (this.rate == 0) ? fresh : this.rate + (fresh - this.rate) * nanos / (nanos + interval);
	}

	/**
	 * How many permits to ask for.
	 * @param interval for how many nanoseconds they should last
	 * @param most how many can be had without harm to others
	 */
	long next(long interval, long most) {
		long needed = (long) (this.rate * interval / SECOND);
		long size = Math.max(0, Math.min(Math.min(needed + this.extra, this.ceiling), most));
		// What could not be asked for must not pile up until it can.
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
