package dev.ratelimit.lease;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Reading;

/**
 * What this instance knows of one counter. Callers with different quotas on it (tiers,
 * overrides, versions of a policy) each have a {@link LeasedSpec}: what was leased under
 * one spec pays only for requests under the same one. So an edit of a limit takes effect
 * at once; what was leased before it expires, although Redis counted it.
 *
 * <p>
 * What the specs share is the budget of calls for leases, and the costs that leases must
 * leave in Redis.
 */
final class LocalCounter {

	/**
	 * Specs that lease at the same time. Callers of any further ones ask Redis each time.
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

	/**
	 * What is leased under a spec, {@code null} if it is not known.
	 */
	@Nullable LeasedSpec under(CounterSpec spec) {
		for (LeasedSpec known : this.specs) {
			if (known.spec() == spec) {
				return known;
			}
		}
		return null;
	}

	/**
	 * Whether another spec can be added.
	 */
	boolean hasRoom(long now) {
		LeasedSpec[] specs = this.specs;
		if (specs.length < MOST_SPECS) {
			return true;
		}
		for (LeasedSpec spec : specs) {
			if (spec.isUnused(now)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Adds a spec if there is room. Those that nobody used for a minute go, and if there
	 * are too many also those that are not used now.
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

	/**
	 * How many specs are known.
	 */
	int size() {
		return this.specs.length;
	}

	/**
	 * How many permits to fetch by a call of their own, 0 for none. For any other number
	 * the caller must make the call and say how it ended.
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
	 * How many permits to fetch by a call that a request makes anyway, 0 for none. For
	 * any other number the caller must say how it ended.
	 * @param cost what the request takes for itself
	 */
	long fetchAlong(LeasedSpec spec, long cost, int instances, long now) {
		if (!spec.begin(now)) {
			return 0;
		}
		long shared = Math.max(this.options.refresh().toNanos(), live(spec, now) * gap(instances));
		// No longer than they live: the rest would be lost.
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
	 * How many specs share the calls. One that an edit has replaced has no lease soon.
	 */
	private long live(LeasedSpec asking, long now) {
		long live = 1;
		for (LeasedSpec spec : this.specs) {
			live += (spec != asking && spec.isLive(now)) ? 1 : 0;
		}
		return live;
	}

	/**
	 * The most that a lease may take: half of what is left, shared by all instances, and
	 * so little that the largest costs of the last minute fit afterwards, even if every
	 * instance leases as much at the same moment.
	 */
	private long most(LeasedSpec asking, long cost, int instances, long now) {
		Reading expected = expected(asking, now);
		long left = (expected != null) ? expected.available(expected.time()) - cost : 0;
		long most = Math.min(left / (2L * instances), (left - asking.largestCost(now)) / instances);
		for (LeasedSpec other : this.specs) {
			long largest = (other != asking) ? other.largestCost(now) : 0;
			// A permit of one spec may be worth many of another, so it is tried out.
			while (expected != null && most > 0 && largest > 0
					&& available(other, without(expected, cost + most * instances)) < largest) {
				most /= 2;
			}
		}
		return Math.max(0, most);
	}

	/**
	 * The counter as it should be by now, for callers of a spec: as Redis told it last,
	 * and if it has told callers of other specs since, the worst of that.
	 */
	private @Nullable Reading expected(LeasedSpec asking, long now) {
		LeasedSpec.Told own = asking.told();
		Reading worst = null;
		long least = Long.MAX_VALUE;
		for (LeasedSpec spec : this.specs) {
			LeasedSpec.Told told = spec.told();
			if (own != null && told != null && told.sent() - own.sent() >= 0) {
				Reading reading = new Reading(asking.counter(), told.state(), told.timeAt(now));
				long available = reading.available(reading.time());
				if (available < least) {
					least = available;
					worst = reading;
				}
			}
		}
		return worst;
	}

	private static Reading without(Reading reading, long permits) {
		CounterSpec spec = reading.counter().spec();
		long[] settled = spec.formula().settle(reading.state(), spec.paces(), reading.time());
		return new Reading(reading.counter(), spec.formula().take(settled, spec.paces(), reading.time(), permits),
				reading.time());
	}

	private static long available(LeasedSpec spec, Reading reading) {
		return new Reading(spec.counter(), reading.state(), reading.time()).available(reading.time());
	}

	/**
	 * Permits that are leased under all specs, not spent and not over.
	 */
	long held(long now) {
		long held = 0;
		for (LeasedSpec spec : this.specs) {
			held += spec.held(now);
		}
		return held;
	}

	/**
	 * Takes out the leases of all specs, to be given back.
	 */
	List<Lease> removeAll() {
		List<Lease> all = new ArrayList<>();
		for (LeasedSpec spec : this.specs) {
			all.addAll(spec.removeAll());
		}
		return all;
	}

}
