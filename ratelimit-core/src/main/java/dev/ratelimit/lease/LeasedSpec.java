package dev.ratelimit.lease;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Reading;

/**
 * The leases of one counter for the callers of one spec: how fast they are spent, the
 * costs of requests, and the last answer of Redis. Callers of another tier or version
 * have a spec of their own on the same {@link LocalCounter}.
 */
final class LeasedSpec {

	private static final long NEVER = Long.MIN_VALUE;

	/** Nothing is being fetched. */
	private static final long IDLE = Long.MIN_VALUE;

	/** How many permits it takes to tell a rate. */
	private static final int SAMPLE = 16;

	private final LocalCounter local;

	private final Counter counter;

	private final LeaseOptions options;

	private final Leases leases = new Leases();

	private final LargestCosts costs;

	private final Gate gate = new Gate();

	/**
	 * Nanoseconds for which a lease can be spent. It expires before Redis forgets it: a
	 * lease spent late would admit more than the limit.
	 */
	private final long lifetime;

	private final LeaseSize size = new LeaseSize();

	/** Permits of requests that found no lease. */
	private final AtomicLong missed = new AtomicLong();

	/**
	 * While a lease is being fetched, the time from which another one may be fetched
	 * although the first has not arrived. Not at each deadline that Redis misses: in the
	 * end more would arrive than requests can spend.
	 */
	private final AtomicLong again = new AtomicLong(IDLE);

	private volatile @Nullable LastKnown lastKnown;

	/** Permits that requests wait for of those which Redis had left at that time. */
	private final AtomicLong awaited = new AtomicLong();

	/** From when on the rate is measured. */
	private volatile long since = NEVER;

	LeasedSpec(LocalCounter local, Counter counter, LeaseOptions options, long now) {
		this.local = local;
		this.counter = counter;
		this.options = options;
		this.costs = new LargestCosts(now);
		this.lifetime = counter.spec()
			.limit()
			.quotas()
			.stream()
			.mapToLong((quota) -> quota.window().toNanos())
			.reduce(options.expires().toNanos(), Math::min);
	}

	LocalCounter local() {
		return this.local;
	}

	Counter counter() {
		return this.counter;
	}

	Gate gate() {
		return this.gate;
	}

	CounterSpec spec() {
		return this.counter.spec();
	}

	/**
	 * Spends permits of leases.
	 * @return the payment, {@code null} if Redis has to be asked
	 */
	@Nullable Payment spend(long permits, long now) {
		this.costs.add(permits, now);
		Payment payment = this.leases.spend(permits, now);
		if (payment == null) {
			if (this.since == NEVER) {
				// The first request only starts the clock.
				this.since = now;
			}
			else {
				this.missed.addAndGet(permits);
			}
		}
		return payment;
	}

	/**
	 * Spends permits of leases for a request that was counted before.
	 */
	@Nullable Payment spendAgain(long permits, long now) {
		return this.leases.spend(permits, now);
	}

	boolean wants(long now) {
		if (this.leases.areEnough(now) || this.lastKnown == null || isFetching(now)) {
			return false;
		}
		return this.leases.isLive(now) || this.missed.get() >= SAMPLE
				|| now - this.since > this.options.refresh().toNanos() / 10;
	}

	private boolean isFetching(long now) {
		long again = this.again.get();
		return again != IDLE && now - again < 0;
	}

	/**
	 * Begins to fetch a lease. A caller that gets {@code true} must report the outcome.
	 */
	boolean begin(long now) {
		long again = this.again.get();
		return (again == IDLE || now - again >= 0) && this.again.compareAndSet(again, again(now));
	}

	/**
	 * The call for a lease that was sent at this time has ended.
	 */
	void end(long sent) {
		this.again.compareAndSet(again(sent), IDLE);
	}

	private long again(long sent) {
		return sent + this.options.refresh().toNanos();
	}

	/**
	 * How many permits to fetch.
	 * @param interval nanoseconds that they should last
	 * @param most how many can be taken without harm to others
	 */
	synchronized long size(long interval, long most, long now) {
		long spent = this.missed.getAndSet(0) + this.leases.spentSince();
		for (Lease ended : this.leases.removeEnded(now)) {
			spent += ended.spentSince();
			// The rest of a lease with refunds is given back, see Refunds.
			this.size.ended(ended.isOver(now) ? (spec().settles() ? ended.get() : ended.getAndSet(0)) : 0);
		}
		this.size.spent(spent, now - this.since, interval);
		this.since = now;
		return this.size.next(interval, most);
	}

	/**
	 * Takes over the answer to a call for a lease, in time or late.
	 * @param wanted permits that were asked for
	 */
	synchronized void fetched(Grant grant, long wanted, long sent, long now) {
		if (!grant.readings().isEmpty()) {
			learn(grant.readings().get(0), sent, now);
			if (grant.permits() > 0) {
				this.leases.add(new Lease(this.leases, grant, sent + this.lifetime,
						grant.permits() * this.options.prefetchAt() / 100));
			}
			if (grant.permits() < wanted) {
				this.size.refused(wanted);
			}
		}
		end(sent);
	}

	/**
	 * Remembers the state of the counter in Redis.
	 * @param sent when the call was sent, so that an overtaken answer changes nothing
	 */
	void learn(Reading reading, long sent, long now) {
		LastKnown known = this.lastKnown;
		if (known == null || sent - known.sent() >= 0) {
			this.lastKnown = new LastKnown(reading.state(), reading.time(), sent, now);
			this.awaited.set(0);
		}
	}

	/**
	 * Asks whether a request that has waited in vain would be refused by Redis. If not,
	 * it may go on waiting: as many may as Redis has permits for. Without this, those
	 * whose caller is far above its limit would wait until their deadlines, as long as
	 * each call brings a few permits for others.
	 * @param since when the request came; an earlier answer says nothing about it
	 * @return the counter without the permits that others wait for, {@code null} if the
	 * request may go on waiting
	 */
	@Nullable Reading refusal(long permits, long since, long now) {
		LastKnown known = this.lastKnown;
		if (known == null || known.received() - since < 0) {
			return null;
		}
		Reading left = new Reading(this.counter, known.state(), known.timeAt(now));
		long available = Math.max(0, left.available());
		if (this.awaited.addAndGet(permits) <= available + this.leases.left(now)) {
			return null;
		}
		this.awaited.addAndGet(-permits);
		return left.afterTaking(available);
	}

	@Nullable LastKnown lastKnown() {
		return this.lastKnown;
	}

	long lifetime() {
		return this.lifetime;
	}

	long largestCost(long now) {
		return this.costs.largest(now);
	}

	boolean isLive(long now) {
		return this.leases.isLive(now);
	}

	/**
	 * Whether its place may go to another spec.
	 */
	boolean isUnused(long now) {
		return !isLive(now) && !isFetching(now)
				&& (this.since == NEVER || now - this.since > this.options.expires().toNanos());
	}

	long held(long now) {
		return this.leases.left(now);
	}

	List<Lease> removeAll() {
		return this.leases.removeAll();
	}

	/**
	 * The counter as Redis last reported it.
	 *
	 * @param state its state, including all permits taken by then
	 * @param time time of the state, on the clock of Redis
	 * @param sent when the call was sent, on the clock of this instance
	 * @param received when the answer arrived, which is later than the state: so permits
	 * that came back since are never overestimated
	 */
	record LastKnown(long[] state, long time, long sent, long received) {

		long timeAt(long now) {
			return this.time + (now - this.received) / 1_000;
		}

	}

}
