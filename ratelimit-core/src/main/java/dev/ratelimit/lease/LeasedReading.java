package dev.ratelimit.lease;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;

/**
 * A reading that knows the lease which paid, so that a refund can go there.
 */
final class LeasedReading extends Reading {

	private final Lease lease;

	LeasedReading(Lease lease, Counter counter, Reading granted, long left) {
		super(counter, granted.state(), granted.time(), left);
		this.lease = lease;
	}

	Lease lease() {
		return this.lease;
	}

}
