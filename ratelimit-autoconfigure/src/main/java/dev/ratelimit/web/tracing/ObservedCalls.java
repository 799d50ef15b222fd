package dev.ratelimit.tracing;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.web.CallTrace;

/**
 * Finds the trace of a call by its current observation.
 */
public final class ObservedCalls implements CallTrace.Source {

	private final ObservationRegistry registry;

	public ObservedCalls(ObservationRegistry registry) {
		this.registry = registry;
	}

	@Override
	public CallTrace find(@Nullable Object observation) {
		Observation found = (observation instanceof Observation given) ? given : this.registry.getCurrentObservation();
		return (found != null && !found.isNoop()) ? new ObservedCall(found) : CallTrace.NONE;
	}

}
