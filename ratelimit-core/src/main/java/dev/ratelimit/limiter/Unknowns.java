package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Quota;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Handles requests with an unknown cost or an unverified API key. An unknown cost becomes
 * the largest that fits. Limits that depend on the API key are a gap, as if their
 * counters had not answered, and the others hold.
 */
final class Unknowns {

	private static final UnansweredException UNVERIFIED = new UnansweredException(Decision.Reason.API_KEY,
			"the API key of a caller could not be verified, so its tenant and tier are not known");

	private final CounterResolver resolver;

	private final Counters counters;

	Unknowns(CounterResolver resolver, Counters counters) {
		this.resolver = resolver;
		this.counters = counters;
	}

	/**
	 * Sets an unknown cost, and the tier that operators have assigned to the caller,
	 * which does not need the API key. Never throws.
	 */
	Request fill(PolicySet policies, Request request) {
		try {
			Request known = request.withTier(policies.records().tier(request));
			Match match = request.unresolved().cost() ? policies.match(known) : null;
			List<Counter> counters = (match != null) ? this.resolver.resolve(match, known) : null;
			if (match == null || counters == null) {
				return known;
			}
			List<Counter> withheld = withheld(match, known);
			if (withheld != null) {
				counters.addAll(withheld);
			}
			return known.withCost(largestCost(counters)).withUnresolved(known.unresolved().priced());
		}
		catch (RuntimeException ex) {
			// The decision of the request meets the same failure and handles it.
			return request;
		}
	}

	/**
	 * Counters that depend on an API key that is not verified, {@code null} if there are
	 * none.
	 */
	@Nullable List<Counter> withheld(Match match, Request request) {
		return request.unresolved().apiKey() ? this.resolver.withheld(match, request) : null;
	}

	static List<Counter> all(List<Counter> counters, @Nullable List<Counter> withheld) {
		return (withheld == null) ? counters : Stream.concat(counters.stream(), withheld.stream()).toList();
	}

	/** The largest cost that all of the counters can admit at once. */
	private long largestCost(List<Counter> counters) {
		return counters.stream().mapToLong(this.counters::largestCost).reduce(Quota.MAX_PERMITS, Math::min);
	}

	/**
	 * Takes permits from the counters; those that are withheld become a gap.
	 */
	void acquire(List<Counter> counters, List<Counter> withheld, Permits permits, @Nullable Attempt attempt,
			Duration timeout, Consumer<Grant> answer) {
		Grant.Gap gap = new Grant.Gap(withheld, UNVERIFIED);
		if (counters.isEmpty()) {
			answer.accept(new Grant(permits, permits.most(), List.of(), Decision.Source.NONE).with(gap));
		}
		else {
			this.counters.acquire(counters, permits, attempt, timeout, (grant) -> answer.accept(grant.with(gap)));
		}
	}

}
