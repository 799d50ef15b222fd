package dev.ratelimit.app.fault;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

import dev.ratelimit.guard.BreakerState;

import static org.awaitility.Awaitility.await;

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

	/** Every gateway has metered an outage that is over, and tells how long it took. */
	void assertOutage() {
		await("the end of the outage").atMost(Duration.ofSeconds(90)).until(() -> outages() > 0);
		System.out.printf(Locale.ROOT, "  ratelimit.outage: at least %d per gateway, %.2f s on average%n", outages(),
				outageSeconds());
	}

	/** How many outages each of the gateways has metered at least. */
	private long outages() {
		return registries()
			.mapToLong((registry) -> registry.get("ratelimit.outage").timers().stream().mapToLong(Timer::count).sum())
			.min()
			.orElseThrow();
	}

	/** How long they lasted on average, in seconds. */
	private double outageSeconds() {
		List<Timer> timers = registries().flatMap((registry) -> registry.get("ratelimit.outage").timers().stream())
			.toList();
		return timers.stream().mapToDouble((timer) -> timer.totalTime(TimeUnit.SECONDS)).sum()
				/ timers.stream().mapToLong(Timer::count).sum();
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
