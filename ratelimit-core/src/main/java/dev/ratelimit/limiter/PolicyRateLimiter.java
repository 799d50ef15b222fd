package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailureMode;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Decides requests by policies. The order in which a request is decided can be read in
 * {@link #decide} and nowhere else.
 *
 * <p>
 * A check never fails: whatever goes wrong in here or below becomes the policy's failure
 * mode.
 */
public final class PolicyRateLimiter implements RateLimiter {

	private final Supplier<PolicySet> policies;

	private final CounterResolver resolver;

	private final Counters counters;

	private final Degradation degradation;

	private final Observers observers;

	private final LimiterOptions options;

	/**
	 * Creates a limiter.
	 * @param policies the snapshot in force, asked for with every request
	 * @param keys how counters are named
	 * @param counters where they are kept
	 * @param local where they are kept while those cannot be reached, in this process
	 * @param options what holds for all policies
	 * @param listeners who sees every decision
	 */
	public PolicyRateLimiter(Supplier<PolicySet> policies, CounterKeys keys, Counters counters, Counters local,
			LimiterOptions options, List<DecisionListener> listeners) {
		this.policies = policies;
		this.resolver = new CounterResolver(keys, options.ipv6Prefix());
		this.counters = counters;
		this.degradation = new Degradation(local, keys, this.resolver, options.instances());
		this.observers = new Observers(listeners);
		this.options = options;
	}

	@Override
	public CompletionStage<Decision> check(Request request) {
		long start = System.nanoTime();
		PolicySet policies = this.policies.get();
		return decide(policies, request).thenApply((decision) -> this.observers.observe(request, decision, start));
	}

	@Override
	public CompletionStage<Decision> degrade(Request request, Throwable failure) {
		long start = System.nanoTime();
		Match match = this.policies.get().match(request);
		this.observers.unresolved(failure);
		CompletionStage<Decision> decision = (match != null)
				? shadowed(match, this.degradation.decide(match, request, Decision.Reason.INTERNAL))
				: unknownPolicy(request);
		return decision.thenApply((decided) -> this.observers.observe(request, decided, start));
	}

	/**
	 * What the request's caller has used, without taking anything and whatever the lists
	 * say.
	 * @throws IllegalArgumentException if there is no such policy or the request lacks a
	 * dimension
	 */
	public CompletionStage<List<LimitStatus>> peek(Request request) {
		return this.counters.acquire(counters(request), Permits.NONE).thenApply(Grant::statuses);
	}

	/**
	 * Forgets what was counted for the request's caller, under every limit of the policy.
	 * @throws IllegalArgumentException if there is no such policy or the request lacks a
	 * dimension
	 */
	public CompletionStage<Void> reset(Request request) {
		return this.counters.reset(counters(request));
	}

	/**
	 * Why the counters did not answer when they were last asked, {@code null} if they
	 * did: failure modes answer while there is a reason.
	 */
	public Decision.@Nullable Reason degraded() {
		return this.observers.degraded();
	}

	private CompletionStage<Decision> decide(PolicySet policies, Request request) {
		Match match = null;
		try {
			if (policies.denies(request)) {
				return turnedAway(request, Decision.Reason.LIST);
			}
			match = policies.match(request);
			if (match == null) {
				return unknownPolicy(request);
			}
			if (policies.allows(request)) {
				return bypassed(match, request, Decision.Reason.LIST);
			}
			List<Counter> counters = this.resolver.resolve(match, request);
			if (counters == null) {
				return shadowed(match, turnedAway(request, Decision.Reason.IDENTITY));
			}
			if (counters.isEmpty()) {
				return bypassed(match, request, Decision.Reason.IDENTITY);
			}
			return shadowed(match, acquire(match, request, counters));
		}
		catch (RuntimeException ex) {
			return (match != null) ? shadowed(match, answer(match, request, ex)) : unknownPolicy(request);
		}
	}

	private CompletionStage<Decision> acquire(Match match, Request request, List<Counter> counters) {
		CompletableFuture<Grant> grant = this.counters
			.acquire(counters, Permits.between(request.atLeast(), request.cost()))
			.toCompletableFuture();
		if (!grant.isDone()) {
			Duration timeout = match.policy().settings().timeout();
			grant = grant.orTimeout(((timeout != null) ? timeout : this.options.timeout()).toNanos(),
					TimeUnit.NANOSECONDS);
		}
		return grant.handle((granted, failure) -> (failure == null)
				? CompletableFuture.completedStage(decision(match, request, granted)) : answer(match, request, failure))
			.thenCompose(Function.identity());
	}

	private Decision decision(Match match, Request request, Grant grant) {
		this.observers.recovered();
		Decision.Outcome outcome = grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED;
		Receipt receipt = (grant.permits() > 0) ? new GrantReceipt(this.counters, grant) : Receipt.NOTHING;
		return new Decision(match.policy().id(), match.policy().version(), !grant.refused(), outcome,
				Decision.Reason.LIMITS, this.counters.source(), false, false, request.cost(), grant.permits(),
				grant.statuses(), receipt);
	}

	private CompletionStage<Decision> answer(Match match, Request request, Throwable failure) {
		Decision.Reason reason = this.observers.degraded(failure);
		return this.degradation.decide(match, request, reason);
	}

	/** In shadow nothing is ever refused, only reported. */
	private static CompletionStage<Decision> shadowed(Match match, CompletionStage<Decision> decision) {
		return match.policy().settings().shadow() ? decision.thenApply(Decision::inShadow) : decision;
	}

	private CompletionStage<Decision> unknownPolicy(Request request) {
		boolean allowed = this.options.onUnknownPolicy() == FailureMode.ALLOW;
		return CompletableFuture.completedStage(
				Decision.without(request, 0, allowed, Decision.Outcome.ERROR, Decision.Reason.UNKNOWN_POLICY));
	}

	private static CompletionStage<Decision> bypassed(Match match, Request request, Decision.Reason reason) {
		return CompletableFuture.completedStage(
				Decision.without(request, match.policy().version(), true, Decision.Outcome.BYPASSED, reason));
	}

	private static CompletionStage<Decision> turnedAway(Request request, Decision.Reason reason) {
		return CompletableFuture.completedStage(Decision.without(request, 0, false, Decision.Outcome.DENIED, reason));
	}

	private List<Counter> counters(Request request) {
		@Nullable Match match = this.policies.get().match(request);
		if (match == null) {
			throw new IllegalArgumentException("there is no policy '" + request.policy() + "'");
		}
		List<Counter> counters = this.resolver.resolve(match, request);
		if (counters == null || counters.isEmpty()) {
			throw new IllegalArgumentException(
					"policy '" + request.policy() + "' counts by dimensions that the request does not have");
		}
		return counters;
	}

}
