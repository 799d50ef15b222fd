package dev.ratelimit.metrics;

import java.util.List;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

import dev.ratelimit.control.RolloutListener;
import dev.ratelimit.store.RecordKey;
import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.ReplicaListener;

/**
 * Counts the versions of policies that were taken back by themselves, on the instance
 * that did it. A counter is there as soon as a policy is edited, so that its first step
 * from 0 to 1 is seen as one.
 */
public final class RolloutMeters implements RolloutListener, ReplicaListener {

	private final MeterRegistry registry;

	public RolloutMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void changed(RolloutListener.Event event) {
		if (event.rolledBack()) {
			rollbacks(event.policy()).increment();
		}
	}

	@Override
	public void changed(List<RecordVersion> versions) {
		for (RecordVersion version : versions) {
			if (version.key().kind() == RecordKey.Kind.POLICY) {
				rollbacks(version.key().id());
			}
		}
	}

	private Counter rollbacks(String policy) {
		return Counter.builder(MeterNames.ROLLBACKS)
			.description("Versions that were taken back because they refused too much")
			.tag("policy", policy)
			.register(this.registry);
	}

}
