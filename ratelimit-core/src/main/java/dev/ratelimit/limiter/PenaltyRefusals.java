package dev.ratelimit.limiter;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Penalty;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.counter.Statuses;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.policy.Match;

/**
 * Decides requests of callers with a cool-down or a ban, and tells {@link Penalties} of
 * the refusals by limits. A policy in shadow tells callers nothing, so nobody can obey
 * it, and it penalises nobody.
 */
final class PenaltyRefusals {

	private static final long LEAST_WAIT_MICROS = Penalty.LEAST_WAIT.toNanos() / 1_000;

	private static final Logger logger = LoggerFactory.getLogger(PolicyRateLimiter.class);

	private final Penalties penalties;

	private final FailureLog failures = new FailureLog(logger,
			"A refusal could not be counted for penalties. It is not affected.", "Refusals are counted again");

	PenaltyRefusals(Penalties penalties) {
		this.penalties = penalties;
	}

	/**
	 * The decision about a caller with a cool-down or a ban, {@code null} if it has none.
	 * A request that has already taken place is charged all the same.
	 */
	@Nullable Decision held(Check check, Match match, List<Counter> counters) {
		Penalty terms = match.policy().settings().penalty();
		if (terms == null || match.shadow() || check.correction() != 0) {
			return null;
		}
		Request request = check.request();
		Penalties.Held held = this.penalties.find(terms, request, counters);
		if (held == null) {
			return null;
		}
		long wait = held.waitMicros();
		LimitStatus status = new LimitStatus(held.limit(), held.limit().quotas().get(0), 0, wait, wait, wait);
		return new Decision(match.policy().id(), match.policy().version(), false,
				held.ban() ? Decision.Outcome.DENIED : Decision.Outcome.REFUSED,
				held.ban() ? Decision.Reason.BAN : Decision.Reason.COOL_DOWN, Decision.Source.NONE, false, null,
				request.cost(), 0, List.of(status.waiting(LEAST_WAIT_MICROS)), Receipt.NOTHING);
	}

	/**
	 * Counts a refusal by a limit, and announces a wait of at least 1 s, or of the
	 * cool-down that it began. Other decisions stay the same. Never throws.
	 * @param match {@code null} if the policy is not known
	 */
	Decision announced(@Nullable Match match, Request request, Decision decision) {
		Penalty terms = (match != null) ? match.policy().settings().penalty() : null;
		if (terms == null || decision.outcome() != Decision.Outcome.REFUSED
				|| decision.reason() == Decision.Reason.COOL_DOWN) {
			return decision;
		}
		try {
			return announced(terms, request, decision);
		}
		catch (RuntimeException ex) {
			this.failures.failed(ex);
			return decision;
		}
	}

	private Decision announced(Penalty terms, Request request, Decision decision) {
		long wait = LEAST_WAIT_MICROS;
		boolean counted = decision.limits() instanceof Statuses && !decision.degraded() && !decision.neverFits();
		if (counted) {
			for (Reading reading : ((Statuses) decision.limits()).lacking()) {
				wait = Math.max(wait, refused(terms, request, decision, reading));
			}
		}
		this.failures.worked();
		long least = wait;
		return decision.with((decision.limits() instanceof Statuses statuses) ? statuses.waiting(least)
				: decision.limits().stream().map((status) -> status.waiting(least)).toList());
	}

	private long refused(Penalty terms, Request request, Decision decision, Reading reading) {
		String limit = reading.counter().spec().limit().name();
		long wait = 0;
		for (LimitStatus status : decision.limits()) {
			if (status.limit().name().equals(limit)) {
				wait = Math.max(wait, status.retryAfterMicros());
			}
		}
		// Only a time of Redis itself: others are estimates. Only of the node that keeps
		// the offences: clocks of nodes differ.
		long central = (decision.source() == Decision.Source.REDIS) ? reading.timeAtKey() : -1;
		return this.penalties.refused(terms, request, reading.counter(), wait, central);
	}

}
