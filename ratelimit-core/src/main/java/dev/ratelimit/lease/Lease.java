package dev.ratelimit.lease;

import java.util.concurrent.atomic.AtomicLong;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Reading;

/**
 * Permits of one counter that were taken from Redis ahead, to be spent here until they
 * expire. Redis counts all of them as taken from the beginning, so that the fleet never
 * admits more than Redis granted.
 */
final class Lease extends AtomicLong implements Payment {

	private final transient Grant grant;

	private final long expires;

	private final long lowWater;

	private long measured;

	/**
	 * Creates a lease.
	 * @param grant what Redis granted
	 * @param expires when it ends, counted from before it was asked for: so it ends here
	 * before it ends in Redis
	 * @param lowWater how many are left when the next one is to be fetched
	 */
	Lease(Grant grant, long expires, long lowWater) {
		super(grant.permits());
		this.grant = grant;
		this.expires = expires;
		this.lowWater = lowWater;
	}

	/**
	 * Spends permits, all or none of them.
	 */
	boolean take(long permits) {
		long left = get();
		while (left >= permits) {
			if (weakCompareAndSetVolatile(left, left - permits)) {
				return true;
			}
			left = get();
		}
		return false;
	}

	/**
	 * Spends as many permits as there are, at most the given number.
	 * @return how many
	 */
	long takeUpTo(long permits) {
		long left = get();
		while (left > 0) {
			long taken = Math.min(left, permits);
			if (weakCompareAndSetVolatile(left, left - taken)) {
				return taken;
			}
			left = get();
		}
		return 0;
	}

	@Override
	public void putBack(long permits) {
		addAndGet(permits);
	}

	boolean isOver(long now) {
		return now - this.expires >= 0;
	}

	boolean expiresBefore(Lease other) {
		return this.expires - other.expires < 0;
	}

	long lowWater() {
		return this.lowWater;
	}

	/**
	 * Permits spent since this was last called. Only for the one that measures.
	 */
	long spentSince() {
		long spent = this.grant.permits() - get();
		long fresh = spent - this.measured;
		this.measured = spent;
		return fresh;
	}

	/**
	 * Ends it.
	 * @return permits that were not spent
	 */
	long end() {
		return getAndSet(0);
	}

	Grant grant() {
		return this.grant;
	}

	@Override
	public Reading reading(Counter counter) {
		Reading granted = this.grant.readings().get(0);
		return new Reading(counter, granted.state(), granted.time(), Math.max(0, get()));
	}

}
