package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.policy.VersionPair;

/**
 * Runs trials of policy versions. A version on trial decides every request once more, in
 * counters of its own and after the request was decided: no caller waits for it, its
 * decision is only reported and compared, and if it fails the request is not compared.
 * The two versions of a rollout with stages decide the requests of some callers in the
 * same way, and are only compared.
 */
final class TrialRunner {

	/** Bounds trials, which must not crowd out real checks while Redis is slow. */
	private static final int MOST_UNDER_WAY = 1_000;

	private final CounterResolver resolver;

	private final Counters counters;

	private final Observers observers;

	private final Settles settles;

	private final Duration timeout;

	private final AtomicInteger underWay = new AtomicInteger();

	TrialRunner(CounterResolver resolver, Counters counters, Observers observers, Settles settles, Duration timeout) {
		this.resolver = resolver;
		this.counters = counters;
		this.observers = observers;
		this.settles = settles;
		this.timeout = timeout;
	}

	/**
	 * Runs the trial or the comparison of a decided request. Never throws.
	 */
	void decided(PolicySet policies, Request request, Decision decision) {
		try {
			Comparison comparison = policies.comparison(request.policy());
			if (comparison != null && comparison.decided(decision)) {
				compare(policies, request, decision, comparison);
			}
		}
		catch (Throwable ex) {
			this.observers.notCompared(ex);
		}
	}

	private void compare(PolicySet policies, Request request, Decision decision, Comparison comparison) {
		Match match = policies.trial(request);
		VersionPair pair = (match == null) ? policies.pair(request) : null;
		if (match != null && begin(1)) {
			decide(match, request, decision).whenComplete((tried, failure) -> {
				end(1);
				if (tried != null) {
					comparison.decided(tried);
					comparison.decided(decision, tried);
					comparison.compared(policies.bucket(request), decision, tried);
					this.observers.tried(request, tried);
				}
			});
		}
		else if (pair != null && comparison.admits(pair.bucket()) && begin(2)) {
			compare(pair, request, decision, comparison);
		}
	}

	/**
	 * Asks both versions in counters of their own. The version in force is asked again,
	 * since its own counters have counted since before the stage, and also for callers
	 * that are not compared: it would refuse more than the other version even if both
	 * were equal.
	 */
	private void compare(VersionPair pair, Request request, Decision decision, Comparison comparison) {
		decide(pair.previous(), request, decision)
			.thenAcceptBoth(decide(pair.next(), request, decision), (previous, next) -> {
				if (previous != null && next != null) {
					comparison.compared(pair.bucket(), previous, next);
				}
			})
			.whenComplete((done, failure) -> end(2));
	}

	private boolean begin(int calls) {
		boolean room = this.underWay.addAndGet(calls) <= MOST_UNDER_WAY;
		if (!room) {
			end(calls);
		}
		return room;
	}

	private void end(int calls) {
		this.underWay.addAndGet(-calls);
	}

	/**
	 * The decision of a version in counters of its own, {@code null} if they did not all
	 * answer. Without an identity it decides as the version in force would: it limits
	 * nothing, or turns the caller away.
	 * @param made the decision in force: its settle corrects what the version took
	 */
	private CompletableFuture<@Nullable Decision> decide(Match match, Request request, Decision made) {
		try {
			List<Counter> counters = this.resolver.resolve(match, request);
			if (counters == null || counters.isEmpty()) {
				return CompletableFuture.completedFuture(
						Decision
							.without(request, match.policy().version(), counters != null,
									(counters != null) ? Decision.Outcome.BYPASSED : Decision.Outcome.DENIED,
									Decision.Reason.IDENTITY)
							.inShadow());
			}
			return this.counters
				.acquire(counters, Permits.between(request.atLeast(), request.cost()),
						CounterResolver.attempt(match, request, counters), this.timeout)
				.thenApply((grant) -> {
					this.settles.tried(made, grant);
					return grant.complete() ? decision(match, request, grant) : null;
				});
		}
		catch (Throwable ex) {
			this.observers.notCompared(ex);
			return CompletableFuture.failedFuture(ex);
		}
	}

	private static Decision decision(Match match, Request request, Grant grant) {
		return new Decision(match.policy().id(), match.policy().version(), !grant.refused(),
				grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED, Decision.Reason.LIMITS,
				grant.source(), true, null, request.cost(), grant.permits(), grant.statuses(), Receipt.NOTHING)
			.inShadow();
	}

}
