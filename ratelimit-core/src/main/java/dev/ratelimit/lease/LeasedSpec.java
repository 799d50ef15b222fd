package dev.ratelimit.lease;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Reading;

/**
 * One counter as the callers of one spec spend it: their leases, how fast these go, which
 * costs came by, and what Redis said last. Callers of another tier or version have one of
 * their own on the same {@link LocalCounter}.
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

	/** Expires before Redis does: a lease spent late would admit more than the limit. */
	private final long lifetime;

	private final LeaseSize size = new LeaseSize();

	/** Permits of requests that found no lease. */
	private final AtomicLong missed = new AtomicLong();

	/**
	 * While a lease is being fetched, from when on another one may be although the first
	 * is not there. Not at each deadline that Redis misses: more would come in the end
	 * than anybody can spend.
	 */
	private final AtomicLong again = new AtomicLong(IDLE);

	private volatile @Nullable Told told;

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

	CounterSpec spec() {
		return this.counter.spec();
	}

	/**
	 * Spends permits of leases.
	 * @return what was spent, {@code null} if Redis has to be asked
	 */
	@Nullable Payment spend(long permits, long now) {
		this.costs.add(permits, now);
		Payment payment = this.leases.spend(permits, now);
		if (payment == null) {
			if (this.since == NEVER) {
				// The first one only starts the clock.
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

	/**
	 * Whether it is time for another lease.
	 */
	boolean wants(long now) {
		if (this.leases.areEnough(now) || this.told == null || isFetching(now)) {
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
	 * Begins to fetch a lease. Whoever gets {@code true} must say how it ended.
	 */
	boolean begin(long now) {
		long again = this.again.get();
		return (again == IDLE || now - again >= 0) && this.again.compareAndSet(again, again(now));
	}

	/**
	 * The lease that was asked for then has come, or never will.
	 */
	void end(long sent) {
		this.again.compareAndSet(again(sent), IDLE);
	}

	private long again(long sent) {
		return sent + this.options.refresh().toNanos();
	}

	/**
	 * How many permits to fetch.
	 * @param interval for how many nanoseconds they should last
	 * @param most how many can be had without harm to others
	 */
	synchronized long size(long interval, long most, long now) {
		long spent = this.missed.getAndSet(0) + this.leases.spentSince();
		for (Lease ended : this.leases.removeEnded(now)) {
			spent += ended.spentSince();
			this.size.ended(ended.end());
		}
		this.size.spent(spent, now - this.since, interval);
		this.since = now;
		return this.size.next(interval, most);
	}

	/**
	 * A lease was asked for and this came of it, in time or late.
	 * @param wanted how many permits were asked for
	 */
	synchronized void fetched(Grant grant, long wanted, long sent, long now) {
		if (!grant.readings().isEmpty()) {
			told(grant.readings().get(0), sent, now);
			if (grant.permits() > 0) {
				this.leases
					.add(new Lease(grant, sent + this.lifetime, grant.permits() * this.options.prefetchAt() / 100));
			}
			if (grant.permits() < wanted) {
				this.size.refused(wanted);
			}
		}
		end(sent);
	}

	/**
	 * Redis has told the state of the counter.
	 * @param sent when it was asked, so that an answer that was overtaken changes nothing
	 */
	void told(Reading reading, long sent, long now) {
		Told known = this.told;
		if (known == null || sent - known.sent() >= 0) {
			this.told = new Told(reading.state(), reading.time(), sent, now);
		}
	}

	@Nullable Told told() {
		return this.told;
	}

	/**
	 * For how many nanoseconds a lease can be spent.
	 */
	long lifetime() {
		return this.lifetime;
	}

	/**
	 * The largest cost of the last minute.
	 */
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

	/**
	 * Permits that are leased, not spent and not over.
	 */
	long held(long now) {
		return this.leases.left(now);
	}

	/**
	 * Takes out all leases, to be given back.
	 */
	List<Lease> removeAll() {
		return this.leases.removeAll();
	}

	/**
	 * What Redis said of the counter.
	 *
	 * @param state its state, with all that was taken by then
	 * @param time when, on the clock of Redis
	 * @param sent when it was asked, on the clock of this instance
	 * @param received when the answer came, which is later than it was true: so what has
	 * come back since is never overestimated
	 */
	record Told(long[] state, long time, long sent, long received) {

		long timeAt(long now) {
			return this.time + (now - this.received) / 1_000;
		}

	}

}
