package dev.ratelimit.web.tracing;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.handler.TracingObservationHandler.TracingContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallTrace;

/**
 * Finds the trace of a call by its observation. A decision is an event on the call's
 * span: a span of its own for something that takes microseconds would make up most of a
 * trace.
 *
 * <p>
 * Nothing is added to the observation's low-cardinality values. They are tags of the
 * application's own meters, which must be the same on all routes, limited or not.
 */
final class ObservedCalls implements CallTrace.Source {

	private static final String EVENT = "ratelimit.decision";

	private static final Logger logger = LoggerFactory.getLogger(ObservedCalls.class);

	private final ObservationRegistry registry;

	ObservedCalls(ObservationRegistry registry) {
		this.registry = registry;
	}

	@Override
	public CallTrace find(@Nullable Object observation) {
		Observation found = (observation instanceof Observation given) ? given : this.registry.getCurrentObservation();
		return (found != null && !found.isNoop()) ? new ObservedCall(found) : CallTrace.NONE;
	}

	private record ObservedCall(Observation observation) implements CallTrace {

		/** The event's text has few values: configured names and fixed words. */
		@Override
		public void decided(Decision decision) {
			String policy = (decision.reason() == Decision.Reason.UNKNOWN_POLICY) ? "unknown" : decision.policy();
			try {
				this.observation.event(Observation.Event.of(EVENT,
						EVENT + " policy=" + policy + " outcome=" + decision.outcome().text()));
			}
			catch (RuntimeException ex) {
				logger.debug("A decision could not be noted in its trace", ex);
			}
		}

		@Override
		public void during(Runnable part) {
			this.observation.scoped(part);
		}

		@Override
		public @Nullable String id() {
			TracingContext context = this.observation.getContextView().get(TracingContext.class);
			Span span = (context != null) ? context.getSpan() : null;
			String id = (span != null) ? span.context().traceId() : null;
			return (id != null && !id.isEmpty()) ? id : null;
		}

	}

}
