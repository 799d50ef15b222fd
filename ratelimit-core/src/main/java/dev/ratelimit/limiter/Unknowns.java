package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import dev.ratelimit.Decision;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * What holds for a request of which something could not be found out. A cost is the
 * largest that fits. Limits that need what an API key would give are a gap, as if their
 * counters had not answered, and the others hold. For all other requests this costs a
 * comparison.
 */
final class Unknowns {

	private final CounterResolver resolver;

	private final Parts parts;

	Unknowns(CounterResolver resolver, Parts parts) {
		this.resolver = resolver;
		this.parts = parts;
	}

	/**
	 * The request with its cost, and with the tier that operators have assigned to the
	 * caller, which need not come from an API key. Never throws.
	 */
	Request fill(PolicySet policies, Request request) {
		if (request.unresolved() == Request.Unresolved.NOTHING) {
			return request;
		}
		try {
			Request known = request.withTier(policies.records().tier(request));
			Match match = request.unresolved().cost() ? policies.match(known) : null;
			List<Counter> counters = (match != null) ? this.resolver.resolve(match, known) : null;
			return (match == null || counters == null) ? known
					: known.withCost(this.parts.largestCost(all(match, known, counters)))
						.withUnresolved(known.unresolved().priced());
		}
		catch (RuntimeException ex) {
			// Whatever threw is met again when the request is decided, and answered
			// there.
			return request;
		}
	}

	/**
	 * Whether a limit needs what the API key of the caller would give.
	 */
	boolean withholds(Match match, Request request) {
		return request.unresolved().apiKey() && this.resolver.withheld(match, request) != null;
	}

	/**
	 * The counters of a request and those that are withheld.
	 */
	List<Counter> all(Match match, Request request, List<Counter> counters) {
		List<Counter> withheld = request.unresolved().apiKey() ? this.resolver.withheld(match, request) : null;
		return (withheld == null) ? counters : Stream.concat(counters.stream(), withheld.stream()).toList();
	}

	/**
	 * Takes permits from the counters; those that are withheld become a gap.
	 */
	CompletionStage<Grant> acquire(Match match, Request request, List<Counter> counters, Permits permits,
			Duration timeout) {
		List<Counter> withheld = request.unresolved().apiKey() ? this.resolver.withheld(match, request) : null;
		if (withheld == null) {
			return this.parts.acquire(counters, permits, timeout);
		}
		Grant.Gap gap = new Grant.Gap(withheld, new UnansweredException(Decision.Reason.API_KEY,
				"the API key of a caller could not be verified, so its tenant and tier are not known"));
		CompletionStage<Grant> answer = counters.isEmpty()
				? CompletableFuture.completedStage(new Grant(permits, permits.most(), List.of(), Decision.Source.NONE))
				: this.parts.acquire(counters, permits, timeout);
		return answer.exceptionally((failure) -> Grant.unanswered(permits, counters, failure))
			.thenApply((grant) -> grant.with(gap));
	}

}
