package dev.ratelimit.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.hot.HotCounters;

/**
 * How many counters are hot, and how hot. Which ones is no tag: the endpoint tells.
 */
public final class HotKeyMeters {

	public HotKeyMeters(MeterRegistry registry, HotCounters counters) {
		Gauge.builder(MeterNames.HOT_KEYS, counters, HotCounters::size)
			.description("Counters that are hot on this instance")
			.strongReference(true)
			.register(registry);
		Gauge.builder(MeterNames.HOT_KEYS_MAX_RATE, counters, HotCounters::maxRate)
			.description("Checks per second of the busiest counter, over the fleet")
			.strongReference(true)
			.register(registry);
	}

}
