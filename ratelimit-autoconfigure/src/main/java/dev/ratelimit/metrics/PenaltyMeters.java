package dev.ratelimit.metrics;

import java.util.function.IntSupplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.penalty.PenaltyListener;

/**
 * Cool-downs and bans. Penalties begin rarely, so a counter is looked up each time.
 */
final class PenaltyMeters implements PenaltyListener {

	private final MeterRegistry registry;

	PenaltyMeters(MeterRegistry registry, IntSupplier bans) {
		this.registry = registry;
		Gauge.builder(MeterNames.BANS, bans::getAsInt)
			.description("Bans in force that this instance knows")
			.register(registry);
	}

	@Override
	public void began(String policy, Kind kind) {
		this.registry.counter(MeterNames.PENALTIES, "policy", policy, "kind", kind.text()).increment();
	}

}
