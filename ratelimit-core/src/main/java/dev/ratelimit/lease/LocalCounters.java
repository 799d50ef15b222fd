package dev.ratelimit.lease;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Enforcement;
import dev.ratelimit.counter.Counter;

/**
 * The counters of which this instance leases permits. Their number, with one for each
 * spec of a counter, is bounded: when there are too many, those least worth keeping are
 * forgotten, with their leases.
 */
final class LocalCounters {

	private final LeaseOptions options;

	private final Cache<Counter, LocalCounter> counters;

	LocalCounters(LeaseOptions options) {
		this.options = options;
		this.counters = Caffeine.newBuilder()
			.maximumWeight(options.maxCounters())
			.weigher((Counter counter, LocalCounter local) -> local.size())
			.executor(Runnable::run)
			.build();
	}

	/**
	 * What is leased under the spec of a counter; makes a place for it if there is none.
	 * @return {@code null} if too many other specs of the counter are in use
	 */
	@Nullable LeasedSpec get(Counter counter, long now) {
		LocalCounter local = this.counters.getIfPresent(counter);
		LeasedSpec leased = (local != null) ? local.under(counter.spec()) : null;
		if (leased != null || local != null && !local.hasRoom(now)) {
			return leased;
		}
		// In one step with the cache, which weighs a counter by its specs.
		return this.counters.asMap().compute(counter, (key, there) -> {
			LocalCounter grown = (there != null) ? there : new LocalCounter(this.options, now);
			grown.add(counter, now);
			return grown;
		}).under(counter.spec());
	}

	/**
	 * What is leased under the spec of a counter, {@code null} if nothing is known of it.
	 */
	@Nullable LeasedSpec find(Counter counter) {
		LocalCounter local = (counter.spec().enforcement() != Enforcement.STRICT) ? this.counters.getIfPresent(counter)
				: null;
		return (local != null) ? local.under(counter.spec()) : null;
	}

	/**
	 * Permits of a counter that are leased under any spec, not spent and not over.
	 */
	long held(Counter counter, long now) {
		LocalCounter local = this.counters.getIfPresent(counter);
		return (local != null) ? local.held(now) : 0;
	}

	void forget(Counter counter) {
		this.counters.invalidate(counter);
	}

	void forget(Predicate<Counter> which) {
		this.counters.asMap().keySet().removeIf(which);
	}

	void forgetAll() {
		this.counters.invalidateAll();
	}

	/**
	 * Forgets all counters and takes out their leases, to be given back.
	 */
	List<Lease> removeAll() {
		List<Lease> leases = new ArrayList<>();
		this.counters.asMap().values().forEach((local) -> leases.addAll(local.removeAll()));
		this.counters.invalidateAll();
		return leases;
	}

	/**
	 * How many specs of counters are known, at most the maximum.
	 */
	long size() {
		this.counters.cleanUp();
		return this.counters.asMap().values().stream().mapToLong(LocalCounter::size).sum();
	}

}
