package dev.ratelimit.selfservice;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.admin.AdminProblem;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

/**
 * Limits how often a tenant may call this instance about itself. Each read costs the
 * shared Redis a call, and each change an entry in a trail that keeps entries for months.
 */
final class TenantCalls {

	private static final int MOST_TENANTS = 10_000;

	private static final int PER_MINUTE = 60;

	private final CounterSpec spec = new CounterSpec(Algorithm.GCRA,
			Limit.of("self-service", List.of(Dimension.TENANT), PER_MINUTE + "/m"));

	private final MemoryCounters counters;

	TenantCalls(LongSupplier nanos) {
		this.counters = new MemoryCounters(MOST_TENANTS, () -> nanos.getAsLong() / 1_000, nanos);
	}

	/**
	 * Counts a call.
	 * @throws AdminProblem if the tenant has made too many
	 */
	void require(String tenant) {
		Grant grant = this.counters
			.acquire(List.of(new Counter(this.spec, tenant)), Permits.exactly(1), Duration.ofSeconds(1))
			.toCompletableFuture()
			.join();
		if (grant.refused()) {
			long wait = grant.readings().get(0).waitFor(1);
			throw AdminProblem.tooMany("A tenant may make " + PER_MINUTE + " of these calls per minute",
					Math.max(1, (wait + 999_999) / 1_000_000));
		}
	}

}
