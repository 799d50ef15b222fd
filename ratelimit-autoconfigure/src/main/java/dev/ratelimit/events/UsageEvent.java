package dev.ratelimit.events;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;

/**
 * What an event needs of a decision. Not the decision itself: that would keep its
 * readings in memory for as long as the event waits. Values of the caller are still as
 * they came; they are replaced when the event is written.
 *
 * @param millis when it was decided, in milliseconds since 1970
 * @param request what was asked
 */
record UsageEvent(long millis, Request request, long version, long granted, boolean allowed, Decision.Outcome outcome,
		boolean shadow, boolean degraded, boolean replay) {

	static UsageEvent of(long millis, Request request, Decision decision) {
		return new UsageEvent(millis, request, decision.version(), decision.granted(), decision.allowed(),
				decision.outcome(), decision.shadow(), decision.degraded(), decision.replay());
	}

}
