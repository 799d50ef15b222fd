package dev.ratelimit.events;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.metrics.MeterNames;

/**
 * How many usage events were delivered and how many were dropped; together they are the
 * decisions.
 */
final class EventMeters {

	EventMeters(MeterRegistry registry, UsageEvents events) {
		FunctionCounter.builder(MeterNames.EVENTS_DELIVERED, events, UsageEvents::delivered)
			.description("Usage events that the broker has confirmed")
			.register(registry);
		FunctionCounter.builder(MeterNames.EVENTS_DROPPED, events, UsageEvents::dropped)
			.description("Usage events that were given up")
			.register(registry);
	}

}
