package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.policy.Comparison;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Compares two versions of a policy. A version that is tried out decides every request
 * once more, in counters of its own and after the request was decided: nobody waits for
 * it, what it says is only reported, and when it fails there is nothing to compare.
 */
final class Beside {

	/** A trial must not take the places that real checks need while Redis is slow. */
	private static final int MOST_UNDER_WAY = 1_000;

	private final CounterResolver resolver;

	private final Parts parts;

	private final Observers observers;

	private final Duration timeout;

	private final AtomicInteger underWay = new AtomicInteger();

	Beside(CounterResolver resolver, Parts parts, Observers observers, Duration timeout) {
		this.resolver = resolver;
		this.parts = parts;
		this.observers = observers;
		this.timeout = timeout;
	}

	/**
	 * Hands a decision to its caller and goes on only after that.
	 */
	CompletionStage<Decision> after(CompletionStage<Decision> decision, PolicySet policies, Request request) {
		CompletableFuture<Decision> caller = new CompletableFuture<>();
		decision.whenComplete((decided, failure) -> {
			if (failure != null) {
				caller.completeExceptionally(failure);
			}
			else {
				caller.complete(decided);
				decided(policies, request, decided);
			}
		});
		return caller;
	}

	/**
	 * A request was decided. Never throws.
	 */
	void decided(PolicySet policies, Request request, Decision decision) {
		try {
			Comparison comparison = policies.comparison(request.policy());
			if (comparison != null) {
				comparison.decided(decision);
				Match match = policies.beside(request);
				if (match != null && isByLimits(decision)) {
					decide(match, request, decision, comparison);
				}
			}
		}
		catch (RuntimeException ex) {
			this.observers.notCompared(ex);
		}
	}

	/** Lists, the switch and failure modes would say the same about either version. */
	private static boolean isByLimits(Decision decision) {
		return !decision.degraded() && switch (decision.outcome()) {
			case ALLOWED, REFUSED, SHADOW_REFUSED -> true;
			case DENIED, BYPASSED, ERROR -> false;
		};
	}

	private void decide(Match match, Request request, Decision decision, Comparison comparison) {
		List<Counter> counters = this.resolver.resolve(match, request);
		if (counters == null || counters.isEmpty()) {
			return;
		}
		if (this.underWay.incrementAndGet() > MOST_UNDER_WAY) {
			this.underWay.decrementAndGet();
			return;
		}
		Permits permits = Permits.between(request.atLeast(), request.cost());
		this.parts.acquire(counters, permits, this.timeout).whenComplete((grant, failure) -> {
			this.underWay.decrementAndGet();
			compare(match, request, decision, comparison, grant);
		});
	}

	private void compare(Match match, Request request, Decision decision, Comparison comparison,
			@Nullable Grant grant) {
		if (grant != null && grant.complete()) {
			Decision tried = new Decision(match.policy().id(), match.policy().version(), !grant.refused(),
					grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED, Decision.Reason.LIMITS,
					grant.source(), true, null, request.cost(), grant.permits(), grant.statuses(), Receipt.NOTHING)
				.inShadow();
			comparison.decided(tried);
			comparison.decided(decision, tried);
			this.observers.tried(request, tried);
		}
	}

}
