package dev.ratelimit.metrics;

import java.time.Duration;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

import dev.ratelimit.store.RecordVersion;
import dev.ratelimit.store.ReplicaListener;
import dev.ratelimit.store.ReplicaState;

/**
 * Meters of policies that are edited at run time: how far this instance is, and how long
 * a change takes to reach it.
 */
final class StoreMeters implements ReplicaListener {

	private final Timer propagation;

	/**
	 * Registers them.
	 * @param state how this instance's copy stands to the store, not asked for at once
	 * @param rejected number of policies and versions that are not in force
	 */
	StoreMeters(MeterRegistry registry, Supplier<ReplicaState> state, IntSupplier rejected) {
		Gauge.builder(MeterNames.POLICIES_REJECTED, rejected::getAsInt)
			.description("Policies and versions that are invalid and therefore not in force")
			.register(registry);
		Gauge.builder(MeterNames.POLICIES_STALE, () -> state.get().stale() ? 1 : 0)
			.description("1 if policies may be older than they should be")
			.register(registry);
		Gauge.builder(MeterNames.POLICIES_MISSING, () -> state.get().missing() ? 1 : 0)
			.description("1 while neither the store nor a snapshot could be read: only configured policies hold")
			.register(registry);
		Gauge.builder(MeterNames.POLICIES_VERSION, () -> state.get().revision())
			.description("Revision of the store that is in force on this instance")
			.register(registry);
		this.propagation = Timer.builder(MeterNames.POLICIES_PROPAGATION)
			.description("Time from a write to the store until it is in force on this instance")
			.register(registry);
	}

	@Override
	public void changed(List<RecordVersion> versions) {
		// What has changed is in force already.
	}

	@Override
	public void propagated(Duration time) {
		this.propagation.record(time);
	}

}
