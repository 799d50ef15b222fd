package dev.ratelimit.tracing;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.handler.TracingObservationHandler.TracingContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.web.CallTrace;

/**
 * A call that is observed. A decision is an event on its span: a span of its own for
 * something that takes microseconds would be most of what a trace consists of.
 *
 * <p>
 * Nothing is added to the observation's low-cardinality values. They are tags of the
 * application's own meters, which must be the same on all routes, limited or not.
 */
final class ObservedCall implements CallTrace {

	static final String EVENT = "ratelimit.decision";

	private static final Logger logger = LoggerFactory.getLogger(ObservedCall.class);

	private final Observation observation;

	ObservedCall(Observation observation) {
		this.observation = observation;
	}

	@Override
	public void decided(Decision decision) {
		try {
			this.observation.event(Observation.Event.of(EVENT, text(decision)));
		}
		catch (RuntimeException ex) {
			logger.debug("A decision could not be noted in its trace", ex);
		}
	}

	/** Named by the configuration and the vocabulary, so there are few of them. */
	private static String text(Decision decision) {
		String policy = (decision.reason() == Decision.Reason.UNKNOWN_POLICY) ? "unknown" : decision.policy();
		return EVENT + " policy=" + policy + " outcome=" + decision.outcome().text();
	}

	@Override
	public @Nullable String id() {
		TracingContext context = this.observation.getContextView().get(TracingContext.class);
		Span span = (context != null) ? context.getSpan() : null;
		String id = (span != null) ? span.context().traceId() : null;
		return (id != null && !id.isEmpty()) ? id : null;
	}

}
