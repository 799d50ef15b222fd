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
final class Lease extends AtomicLong {

	private final transient Grant grant;

	private final long expires;

	private final long lowWater;

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
	boolean take(long permits, long now) {
		if (now - this.expires >= 0) {
			return false;
		}
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
	 * What a request that was refused elsewhere did not spend after all.
	 */
	void putBack(long permits) {
		addAndGet(permits);
	}

	boolean isLow() {
		return get() <= this.lowWater;
	}

	boolean isOver(long now) {
		return now - this.expires >= 0;
	}

	long size() {
		return this.grant.permits();
	}

	/**
	 * Ends it.
	 * @return what nobody has spent
	 */
	long end() {
		return getAndSet(0);
	}

	Grant grant() {
		return this.grant;
	}

	/**
	 * The counter as it can be known here: what Redis said, less what was spent since. A
	 * guide, since what came back in the meantime and what others took is not in it.
	 */
	Reading reading(Counter counter) {
		Reading granted = this.grant.readings().get(0);
		return new Reading(counter, granted.state(), granted.time(), Math.max(0, get()));
	}

}
