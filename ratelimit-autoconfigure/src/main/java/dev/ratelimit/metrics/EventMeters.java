package dev.ratelimit.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.events.UsageEvents;

/**
 * How many usage events were delivered and how many were dropped; together they are the
 * decisions.
 */
public final class EventMeters {

	static final String DELIVERED = "ratelimit.events.delivered";

	static final String DROPPED = "ratelimit.events.dropped";

	public EventMeters(MeterRegistry registry, UsageEvents events) {
		FunctionCounter.builder(DELIVERED, events, UsageEvents::delivered)
			.description("Usage events that the broker has confirmed")
			.register(registry);
		FunctionCounter.builder(DROPPED, events, UsageEvents::dropped)
			.description("Usage events that were given up")
			.register(registry);
	}

}
