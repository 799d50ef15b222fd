package dev.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Request;
import dev.ratelimit.lease.LeaseListener;

/**
 * Meters of leases: decisions from a lease, leases fetched, and their size.
 */
final class LeaseMeters implements LeaseListener, DecisionListener {

	private final Counter hits;

	private final Counter refills;

	private final DistributionSummary size;

	LeaseMeters(MeterRegistry registry) {
		this.hits = Counter.builder(MeterNames.LEASE_HITS)
			.description("Decisions that permits taken ahead made")
			.register(registry);
		this.refills = Counter.builder(MeterNames.LEASE_REFILLS)
			.description("Leases that Redis was asked for")
			.register(registry);
		this.size = DistributionSummary.builder(MeterNames.LEASE_SIZE)
			.description("Permits that Redis granted ahead")
			.register(registry);
	}

	@Override
	public void decided(Request request, Decision decision, long nanos) {
		if (decision.source() == Decision.Source.LEASE) {
			this.hits.increment();
		}
	}

	@Override
	public void fetched(long permits) {
		this.refills.increment();
		this.size.record(permits);
	}

}
