package dev.ratelimit.app.fault;

import java.util.stream.Stream;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.guard.BreakerState;

/** What the gateways of a case have metered. */
record Meters(FaultCase fault) {

	/** Decisions that a failure mode made for this reason. */
	double degraded(String reason) {
		return sum("ratelimit.degraded", reason);
	}

	/** Checks that a node did not answer for this reason. */
	double errors(String reason) {
		return sum("ratelimit.redis.errors", reason);
	}

	/** Leases that Redis was asked for and answered. */
	double refills() {
		return registries().mapToDouble((registry) -> registry.get("ratelimit.lease.refills").counter().count()).sum();
	}

	/** Decisions that a lease made. */
	double leaseHits() {
		return registries().mapToDouble((registry) -> registry.get("ratelimit.lease.hits").counter().count()).sum();
	}

	/** Permits that Redis granted ahead. */
	double permitsLeased() {
		return registries().mapToDouble((registry) -> registry.get("ratelimit.lease.size").summary().totalAmount())
			.sum();
	}

	/** How many meters there are, but for those that a JVM registers when it likes. */
	long count() {
		return this.fault.gateways()
			.stream()
			.flatMap((gateway) -> registry(gateway).getMeters().stream())
			.filter((meter) -> !meter.getId().getName().startsWith("jvm."))
			.count();
	}

	/** How far Redis's clock is ahead, in seconds. */
	double clockSkew() {
		return registry(this.fault.gateways().get(0)).get("ratelimit.redis.clock.skew").timeGauge().value();
	}

	/** Whether all breakers are closed. */
	boolean breakersClosed() {
		return this.fault.gateways()
			.stream()
			.flatMap((gateway) -> registry(gateway).get("ratelimit.breaker.state").gauges().stream())
			.allMatch((gauge) -> gauge.value() == BreakerState.CLOSED.ordinal());
	}

	private double sum(String meter, String reason) {
		return this.fault.gateways()
			.stream()
			.flatMap((gateway) -> registry(gateway).find(meter).tag("reason", reason).counters().stream())
			.mapToDouble(Counter::count)
			.sum();
	}

	private Stream<MeterRegistry> registries() {
		return this.fault.gateways().stream().map(Meters::registry);
	}

	private static MeterRegistry registry(Gateway gateway) {
		return gateway.context().getBean(MeterRegistry.class);
	}

}
