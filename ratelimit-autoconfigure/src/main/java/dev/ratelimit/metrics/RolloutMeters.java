package dev.ratelimit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.control.RolloutListener;

/**
 * Counts the versions that rollouts took back by themselves. Not by policy: a series that
 * begins with its first rollback would show no increase, and the trail says which it was.
 */
public final class RolloutMeters implements RolloutListener {

	private final Counter rollbacks;

	public RolloutMeters(MeterRegistry registry) {
		this.rollbacks = Counter.builder(MeterNames.ROLLBACKS)
			.description("Versions of policies that rollouts took back, led by this instance")
			.register(registry);
	}

	@Override
	public void changed(Event event) {
		if (event.rolledBack()) {
			this.rollbacks.increment();
		}
	}

}
