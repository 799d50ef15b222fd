package dev.ratelimit.limiter;

import java.util.List;
import java.util.function.Function;

import dev.ratelimit.Decision;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Decides checks that the counters did not answer, or not all of them.
 */
final class UnansweredChecks {

	private final CounterResolver resolver;

	private final Counters counters;

	private final Unknowns unknowns;

	private final PenaltyRefusals penalties;

	private final Degradation degradation;

	private final Observers observers;

	private final Settles settles;

	UnansweredChecks(CounterResolver resolver, Counters counters, Unknowns unknowns, PenaltyRefusals penalties,
			Degradation degradation, Observers observers, Settles settles) {
		this.resolver = resolver;
		this.counters = counters;
		this.unknowns = unknowns;
		this.penalties = penalties;
		this.degradation = degradation;
		this.observers = observers;
		this.settles = settles;
	}

	/**
	 * Decides when some or all counters did not answer: the failure mode decides in their
	 * place, the other counters still hold. Permits that a refused request has taken, or
	 * takes late, are given back.
	 * @param answered the decision of the counters that answered, with a failure mode
	 */
	Decision patched(Match match, Request request, Grant grant, Function<FailureMode, Decision> answered) {
		Decision.Reason reason = this.observers.unanswered(grant.gaps().get(0).cause());
		Decision decision = grant.refused() ? answered.apply(match.onFailure()) : merged(grant,
				this.degradation.decide(match.onFailure(), match, request, grant.unanswered(), reason), answered);
		long kept = decision.allowed() ? grant.permits() : 0;
		if (!grant.readings().isEmpty() && grant.permits() > kept) {
			this.counters.giveBack(grant, grant.permits() - kept);
		}
		grant.whenLate((late) -> {
			if (late.permits() > kept) {
				this.counters.giveBack(late, late.permits() - kept);
			}
		});
		return this.settles.late(match, decision, grant, kept);
	}

	private static Decision merged(Grant grant, Decision patch, Function<FailureMode, Decision> answered) {
		if (!patch.allowed()) {
			return patch.at(grant.gaps().get(0).cause().node());
		}
		if (grant.readings().isEmpty()) {
			return patch;
		}
		return Settles.merged(answered.apply(patch.mode()).with(patch.reason(), patch.limits()), patch);
	}

	/**
	 * Decides when the counters could not be asked: penalties hold, then the failure mode
	 * decides.
	 */
	Decision failed(Check check, Match match, Decision.Reason reason) {
		Request request = check.request();
		try {
			List<Counter> counters = this.resolver.resolve(match, request);
			Decision held = (counters != null) ? this.penalties.held(check, match, counters) : null;
			return (held != null) ? held
					: PolicyRateLimiter.shadowed(match,
							this.degradation.decide(match.onFailure(), match, request, (counters != null)
									? Unknowns.all(counters, this.unknowns.withheld(match, request)) : List.of(),
									reason));
		}
		catch (RuntimeException ex) {
			return lastResort(check.policies(), request, ex);
		}
	}

	/**
	 * The last decision when the failure mode itself has failed. The deny-list was
	 * checked before.
	 */
	Decision lastResort(PolicySet policies, Request request, Throwable failure) {
		this.observers.unanswered(UnansweredException.of(failure));
		Match match = policies.match(request);
		boolean deny = match != null && match.onFailure() == FailureMode.DENY && !match.shadow();
		return Decision.by(deny ? FailureMode.DENY : FailureMode.ALLOW, request,
				(match != null) ? match.policy().version() : 0, Decision.Reason.INTERNAL);
	}

}
