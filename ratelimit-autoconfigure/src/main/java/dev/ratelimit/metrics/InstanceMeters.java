package dev.ratelimit.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.fleet.Fleet;
import dev.ratelimit.fleet.ModeSwitch;
import dev.ratelimit.hot.HotCounters;

/**
 * The fleet, the switch and hot counters, as this instance sees them. Which counters are
 * hot is not a tag: the endpoint lists them.
 */
final class InstanceMeters {

	InstanceMeters(MeterRegistry registry, Fleet fleet, ModeSwitch modeSwitch, HotCounters counters) {
		Gauge.builder(MeterNames.FLEET_INSTANCES, fleet::size)
			.description("Number of instances that share the limits")
			.register(registry);
		Gauge.builder(MeterNames.SWITCH_ON, () -> (modeSwitch.mode() != null) ? 1 : 0)
			.description("1 while the switch answers every check")
			.register(registry);
		Gauge.builder(MeterNames.HOT_KEYS, counters::size)
			.description("Counters that are hot on this instance")
			.register(registry);
		Gauge.builder(MeterNames.HOT_KEYS_MAX_RATE, counters::maxRate)
			.description("Checks per second of the busiest counter, over the fleet")
			.register(registry);
	}

}
