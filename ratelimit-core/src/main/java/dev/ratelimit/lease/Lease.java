package dev.ratelimit.lease;

import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
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

	private static final AtomicIntegerFieldUpdater<Lease> AWAITED = AtomicIntegerFieldUpdater.newUpdater(Lease.class,
			"awaited");

	private final transient Leases home;

	private final transient Grant grant;

	private final long expires;

	private final long lowWater;

	private long measured;

	/** 1 if its rest is given back when it ends. */
	private transient volatile int awaited;

	/**
	 * @param expires when it ends, counted from before the call was sent: so it ends here
	 * before it ends in Redis
	 * @param lowWater permits left at which the next lease is fetched
	 */
	Lease(Leases home, Grant grant, long expires, long lowWater) {
		super(grant.permits());
		this.home = home;
		this.grant = grant;
		this.expires = expires;
		this.lowWater = lowWater;
	}

	/**
	 * Spends permits.
	 * @return how many, 0 if fewer than {@code least} are left
	 */
	long take(long least, long most) {
		long left = get();
		while (left >= least) {
			long taken = Math.min(left, most);
			if (weakCompareAndSetVolatile(left, left - taken)) {
				return taken;
			}
			left = get();
		}
		return 0;
	}

	/**
	 * Permits that can be spent now.
	 */
	long left(long now) {
		return isOver(now) ? 0 : Math.max(0, get());
	}

	@Override
	public void putBack(long permits) {
		this.home.putBack(this, permits);
	}

	boolean isOver(long now) {
		return now - this.expires >= 0;
	}

	/** Nanoseconds until it ends. */
	long lasts(long now) {
		return this.expires - now;
	}

	/**
	 * Begins to await its end.
	 * @return whether nobody else awaits it
	 */
	boolean awaitEnd() {
		return AWAITED.compareAndSet(this, 0, 1);
	}

	/**
	 * The permits that are left at its end, to be given back. Permits that are put back
	 * later make another end.
	 */
	long end() {
		this.awaited = 0;
		return getAndSet(0);
	}

	boolean expiresBefore(Lease other) {
		return this.expires - other.expires < 0;
	}

	long lowWater() {
		return this.lowWater;
	}

	/**
	 * Permits spent since the last call of this method.
	 */
	long spentSince() {
		long spent = this.grant.permits() - get();
		long fresh = spent - this.measured;
		this.measured = spent;
		return fresh;
	}

	Grant grant() {
		return this.grant;
	}

	@Override
	public Reading reading(Counter counter) {
		Reading granted = this.grant.readings().get(0);
		long left = Math.max(0, get());
		return counter.spec().settles() ? new LeasedReading(this, counter, granted, left)
				: new Reading(counter, granted.state(), granted.time(), left);
	}

	@Override
	public List<Reading.Taken> taken(long permits) {
		return List.of(new Reading.Taken(this.grant.readings().get(0).time(), permits));
	}

}
