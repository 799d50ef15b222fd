package dev.ratelimit.lease;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Reading;

/**
 * One counter in this instance. Callers with different quotas on it (tiers, overrides,
 * versions of a policy) each have a {@link LeasedSpec}: a lease pays only for requests
 * under its own spec. So an edit of a limit takes effect at once; earlier leases expire
 * unspent, although Redis counted them.
 *
 * <p>
 * The specs share the budget of calls for leases, and the costs that leases must leave in
 * Redis.
 */
final class LocalCounter {

	/**
	 * Largest number of specs that lease at the same time. Callers of other specs ask
	 * Redis each time.
	 */
	static final int MOST_SPECS = 16;

	/** How many calls for leases of one counter the fleet makes a second at most. */
	private static final long MAX_CALLS_PER_SECOND = 3_000;

	private static final long SECOND = 1_000_000_000;

	private static final LeasedSpec[] NONE = {};

	private final LeaseOptions options;

	/** When the next call for a lease may be made. */
	private final AtomicLong nextCall;

	/** The newest first: it is the one that is looked for after an edit. */
	private volatile LeasedSpec[] specs = NONE;

	LocalCounter(LeaseOptions options, long now) {
		this.options = options;
		this.nextCall = new AtomicLong(now);
	}

	@Nullable LeasedSpec under(CounterSpec spec) {
		for (LeasedSpec known : this.specs) {
			if (known.spec() == spec) {
				return known;
			}
		}
		return null;
	}

	boolean hasRoom(long now) {
		LeasedSpec[] specs = this.specs;
		return specs.length < MOST_SPECS || Arrays.stream(specs).anyMatch((spec) -> spec.isUnused(now));
	}

	/**
	 * Adds a spec if there is room. Specs unused for a minute are dropped, and if there
	 * are too many also those not in use now.
	 */
	synchronized void add(Counter counter, long now) {
		if (under(counter.spec()) != null || !hasRoom(now)) {
			return;
		}
		boolean full = this.specs.length == MOST_SPECS;
		List<LeasedSpec> kept = new ArrayList<>();
		kept.add(new LeasedSpec(this, counter, this.options, now));
		for (LeasedSpec spec : this.specs) {
			if (!spec.isUnused(now) || !full && spec.largestCost(now) > 0) {
				kept.add(spec);
			}
		}
		this.specs = kept.toArray(LeasedSpec[]::new);
	}

	int size() {
		return this.specs.length;
	}

	/**
	 * How many permits to fetch by a separate call, 0 for none. For any other number the
	 * caller must make the call and report the outcome.
	 */
	long fetch(LeasedSpec spec, int instances, long now) {
		long next = this.nextCall.get();
		if (now - next < 0) {
			return 0;
		}
		long size = fetchAlong(spec, 0, instances, now);
		if (size > 0 && !this.nextCall.compareAndSet(next, now + gap(instances))) {
			spec.end(now);
			return 0;
		}
		return size;
	}

	/**
	 * How many permits to fetch in the call of a request, 0 for none. For any other
	 * number the caller must report the outcome.
	 * @param cost permits of the request itself
	 */
	long fetchAlong(LeasedSpec spec, long cost, int instances, long now) {
		if (!spec.begin(now)) {
			return 0;
		}
		long shared = Math.max(this.options.refresh().toNanos(), live(spec, now) * gap(instances));
		// For no longer than a lease lives: the rest would be lost.
		long interval = Math.min(shared, spec.lifetime());
		long size = spec.size(interval, most(spec, cost, instances, now), now);
		if (size == 0) {
			spec.end(now);
		}
		return size;
	}

	/** Between calls, so that the bound holds whatever the sizes and for all specs. */
	private static long gap(int instances) {
		return (instances * SECOND + MAX_CALLS_PER_SECOND - 1) / MAX_CALLS_PER_SECOND;
	}

	/**
	 * The number of specs that share the calls. A spec that an edit has replaced soon has
	 * no lease.
	 */
	private long live(LeasedSpec asking, long now) {
		return 1 + Arrays.stream(this.specs).filter((spec) -> spec != asking && spec.isLive(now)).count();
	}

	/**
	 * The most that a lease may take: half of what is left, shared by all instances, and
	 * so little that the largest costs of the last minute fit afterwards, even if every
	 * instance leases as much at the same moment.
	 */
	private long most(LeasedSpec asking, long cost, int instances, long now) {
		Reading expected = expected(asking, now);
		long left = (expected != null) ? expected.available() - cost : 0;
		long most = Math.min(left / (2L * instances), (left - asking.largestCost(now)) / instances);
		for (LeasedSpec other : this.specs) {
			long largest = (other != asking) ? other.largestCost(now) : 0;
			// A permit of one spec may be worth many of another, so it is tried out.
			while (expected != null && most > 0 && largest > 0
					&& availableAfter(other, expected, cost + most * instances) < largest) {
				most /= 2;
			}
		}
		return Math.max(0, most);
	}

	/**
	 * The estimated counter for callers of a spec: as Redis last reported it, or the
	 * lowest report to callers of other specs since then.
	 */
	private @Nullable Reading expected(LeasedSpec asking, long now) {
		LeasedSpec.LastKnown own = asking.lastKnown();
		Reading worst = null;
		long least = Long.MAX_VALUE;
		for (LeasedSpec spec : this.specs) {
			LeasedSpec.LastKnown lastKnown = spec.lastKnown();
			if (own != null && lastKnown != null && lastKnown.sent() - own.sent() >= 0) {
				Reading reading = new Reading(asking.counter(), lastKnown.state(), lastKnown.timeAt(now));
				long available = reading.available();
				if (available < least) {
					least = available;
					worst = reading;
				}
			}
		}
		return worst;
	}

	/** Permits that callers of another spec have after these were taken. */
	private static long availableAfter(LeasedSpec other, Reading reading, long taken) {
		Reading after = reading.afterTaking(taken);
		return new Reading(other.counter(), after.state(), after.time()).available();
	}

	/**
	 * Permits leased under all specs that are neither spent nor expired.
	 */
	long held(long now) {
		return Arrays.stream(this.specs).mapToLong((spec) -> spec.held(now)).sum();
	}

	List<Lease> removeAll() {
		return Arrays.stream(this.specs).flatMap((spec) -> spec.removeAll().stream()).toList();
	}

}
