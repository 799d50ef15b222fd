package dev.ratelimit.metrics;

import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * What holds for all instances together, as this one sees it.
 */
public final class FleetMeters {

	/**
	 * Registers them.
	 * @param instances how many share the limits
	 * @param switchedOn whether the switch answers instead of the counters
	 */
	public FleetMeters(MeterRegistry registry, IntSupplier instances, BooleanSupplier switchedOn) {
		Gauge.builder(MeterNames.FLEET_INSTANCES, instances::getAsInt)
			.description("Number of instances that share the limits")
			.register(registry);
		Gauge.builder(MeterNames.SWITCH_ON, () -> switchedOn.getAsBoolean() ? 1 : 0)
			.description("1 while the switch answers every check")
			.register(registry);
	}

}
