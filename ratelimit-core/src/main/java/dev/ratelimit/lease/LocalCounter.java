package dev.ratelimit.lease;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Quota;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Reading;

/**
 * What this instance knows of one counter: the lease that is being spent, the one that
 * was fetched ahead, how fast they go, and what Redis said last.
 *
 * <p>
 * A lease is as large as what is spent in one refresh interval, one more each time that
 * was not enough and half as much when Redis could not give it; and never more than what
 * is left for each instance to lease twice. Where that is less than one permit, the
 * counter is asked for every request.
 */
final class LocalCounter {

	/** How many calls for leases of one counter the fleet makes a second at most. */
	private static final double MAX_CALLS_PER_SECOND = 3_000;

	private static final double SECOND = 1e9;

	private static final long NEVER = Long.MIN_VALUE;

	/** How many permits it takes to tell a rate. */
	private static final int SAMPLE = 16;

	private final Counter counter;

	private final LeaseOptions options;

	private final AtomicBoolean fetching = new AtomicBoolean();

	private final AtomicLong missed = new AtomicLong();

	private volatile @Nullable Lease current;

	private volatile @Nullable Lease next;

	private volatile @Nullable Reading reading;

	private volatile long readAt;

	/** From when on the rate is measured. */
	private volatile long since = NEVER;

	private double rate;

	/** What was spent of the current lease and is in the rate already. */
	private long measured;

	private long extra;

	private long ceiling = Long.MAX_VALUE;

	LocalCounter(Counter counter, LeaseOptions options) {
		this.counter = counter;
		this.options = options;
	}

	/**
	 * Spends permits of a lease.
	 * @return the lease, {@code null} if Redis has to be asked
	 */
	@Nullable Lease spend(long permits, long now) {
		Lease lease = take(permits, now);
		if (lease != null) {
			return lease;
		}
		if (this.since == NEVER) {
			// The first one only starts the clock.
			this.since = now;
		}
		else {
			this.missed.addAndGet(permits);
		}
		return null;
	}

	/**
	 * Spends permits of a lease for a request that has come by before.
	 */
	@Nullable Lease take(long permits, long now) {
		Lease lease = this.current;
		if (lease != null && lease.take(permits, now)) {
			return lease;
		}
		Lease ahead = this.next;
		if (ahead != null) {
			turn(ahead, now);
			lease = this.current;
			if (lease != null && lease.take(permits, now)) {
				return lease;
			}
		}
		return null;
	}

	/**
	 * Whether a lease should be fetched now, which the caller then does.
	 */
	boolean wants(long now) {
		if (this.next != null || this.reading == null || this.fetching.get()) {
			return false;
		}
		Lease lease = this.current;
		boolean low = (lease != null && !lease.isOver(now)) ? lease.isLow()
				: this.missed.get() >= SAMPLE || now - this.since > this.options.refresh().toNanos() / 10;
		return low && this.fetching.compareAndSet(false, true);
	}

	/**
	 * How many permits to fetch, 0 for none; then nothing is being fetched any more.
	 */
	synchronized long size(int instances, long now) {
		Lease lease = this.current;
		double interval = Math.max(this.options.refresh().toNanos() / SECOND, instances / MAX_CALLS_PER_SECOND);
		measure(lease, interval, now);
		Reading reading = this.reading;
		long left = (reading != null) ? reading.available(reading.time() + (now - this.readAt) / 1_000) : 0;
		long size = Math.min(Math.min((long) (this.rate * interval) + this.extra, this.ceiling),
				left / (2L * instances));
		if (size < 1) {
			this.fetching.set(false);
			return 0;
		}
		return size;
	}

	/**
	 * A time weighs as much as it lasted, or two requests that come together while no
	 * lease can be had would look like a flood.
	 */
	private void measure(@Nullable Lease lease, double interval, long now) {
		double elapsed = Math.max(1, now - this.since) / SECOND;
		long ofLease = (lease != null) ? lease.size() - lease.get() : 0;
		double spent = Math.max(0, this.missed.getAndSet(0) + ofLease - this.measured);
		this.measured = ofLease;
		this.since = now;
		double fresh = spent / elapsed;
		this.rate = (this.rate == 0) ? fresh : this.rate + (fresh - this.rate) * elapsed / (elapsed + interval);
	}

	/**
	 * A lease was asked for, and this came of it.
	 */
	void fetched(Grant grant, long wanted, long sent) {
		granted(grant, wanted, sent);
		this.fetching.set(false);
	}

	/**
	 * Redis has answered, perhaps when another lease was being asked for already.
	 * @param grant the answer
	 * @param wanted how many permits it was asked for
	 */
	synchronized void granted(Grant grant, long wanted, long sent) {
		if (!grant.readings().isEmpty()) {
			told(grant.readings().get(0), sent);
		}
		if (grant.permits() > 0 && !grant.readings().isEmpty()) {
			Lease lease = new Lease(grant, sent + lifetime(), grant.permits() * this.options.prefetchAt() / 100);
			if (this.current == null) {
				this.current = lease;
			}
			else {
				this.next = lease;
			}
		}
		if (grant.permits() < wanted) {
			this.ceiling = Math.max(1, wanted / 2);
			this.extra = 0;
		}
	}

	void notFetched() {
		this.fetching.set(false);
	}

	/**
	 * Redis has told the state of the counter.
	 */
	void told(Reading reading, long sent) {
		this.reading = reading;
		this.readAt = sent;
	}

	boolean isOf(Counter counter) {
		return this.counter.spec() == counter.spec();
	}

	/**
	 * Permits that are leased, not spent and not over.
	 */
	long held(long now) {
		return left(this.current, now) + left(this.next, now);
	}

	private static long left(@Nullable Lease lease, long now) {
		return (lease != null && !lease.isOver(now)) ? Math.max(0, lease.get()) : 0;
	}

	/** The leases that are not spent and not over, to be given back. */
	@Nullable Lease takeCurrent() {
		Lease lease = this.current;
		this.current = null;
		return lease;
	}

	@Nullable Lease takeNext() {
		Lease lease = this.next;
		this.next = null;
		return lease;
	}

	private synchronized void turn(Lease ahead, long now) {
		if (this.next == ahead) {
			Lease spent = this.current;
			if (spent != null && !spent.isOver(now)) {
				this.extra++;
				this.ceiling = (this.ceiling == Long.MAX_VALUE) ? this.ceiling : this.ceiling + 1;
			}
			this.missed.addAndGet((spent != null) ? spent.size() - spent.get() - this.measured : 0);
			this.measured = 0;
			this.current = ahead;
			this.next = null;
		}
	}

	/** Expires before Redis does: a lease spent late would admit more than the limit. */
	private long lifetime() {
		long shortest = this.options.expires().toNanos();
		for (Quota quota : this.counter.spec().limit().quotas()) {
			shortest = Math.min(shortest, quota.window().toNanos());
		}
		return shortest;
	}

}
