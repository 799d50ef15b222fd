package dev.ratelimit.lease;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.counter.Counter;

/**
 * The counters of which this instance leases permits. Their number, counted by spec, is
 * bounded: when there are too many, the least used are forgotten with their leases.
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
	 * The leases under the spec of a counter; added if there are none.
	 * @return {@code null} if too many other specs of the counter are in use
	 */
	@Nullable LeasedSpec get(Counter counter, long now) {
		LocalCounter local = this.counters.getIfPresent(counter);
		LeasedSpec leased = (local != null) ? local.under(counter.spec()) : null;
		if (leased != null || local != null && !local.hasRoom(now)) {
			return leased;
		}
		// Inside the cache, which weighs a counter by the number of its specs.
		return this.counters.asMap().compute(counter, (key, known) -> {
			LocalCounter grown = (known != null) ? known : new LocalCounter(this.options, now);
			grown.add(counter, now);
			return grown;
		}).under(counter.spec());
	}

	/**
	 * The leases under the spec of a counter, {@code null} if there are none.
	 */
	@Nullable LeasedSpec find(Counter counter) {
		LocalCounter local = this.counters.getIfPresent(counter);
		return (local != null) ? local.under(counter.spec()) : null;
	}

	/**
	 * Permits of a counter leased under any spec that are neither spent nor expired.
	 */
	long held(Counter counter, long now) {
		LocalCounter local = this.counters.getIfPresent(counter);
		return (local != null) ? local.held(now) : 0;
	}

	void forget(Predicate<Counter> which) {
		this.counters.asMap().keySet().removeIf(which);
	}

	/**
	 * Forgets all counters and returns their leases, to be given back.
	 */
	List<Lease> removeAll() {
		List<Lease> leases = new ArrayList<>();
		this.counters.asMap().values().forEach((local) -> leases.addAll(local.removeAll()));
		this.counters.invalidateAll();
		return leases;
	}

	long size() {
		this.counters.cleanUp();
		return this.counters.asMap().values().stream().mapToLong(LocalCounter::size).sum();
	}

}
