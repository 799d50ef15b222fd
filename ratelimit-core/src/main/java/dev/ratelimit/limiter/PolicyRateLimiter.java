package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
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
import dev.ratelimit.counter.UnansweredException;
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

	private final Parts parts;

	private final Unknowns unknowns;

	private final Fallback fallback;

	private final Degradation degradation;

	private final Observers observers;

	private final Beside beside;

	private final LimiterOptions options;

	private final Consumer<Counter> refusals;

	/**
	 * Creates a limiter.
	 * @param policies the snapshot in force, asked for with every request
	 * @param keys how counters are named
	 * @param counters where they are kept
	 * @param fallback what decides while those cannot
	 * @param options what holds for all policies
	 * @param listeners who sees every decision
	 */
	public PolicyRateLimiter(Supplier<PolicySet> policies, CounterKeys keys, Counters counters, Fallback fallback,
			LimiterOptions options, List<DecisionListener> listeners) {
		this(policies, keys, counters, fallback, options, listeners,
				(counters.source() == Decision.Source.MEMORY) ? Splitting.NONE : Splitting.CONFIGURED);
	}

	/**
	 * Creates a limiter.
	 * @param splitting in how many parts a counter is kept
	 */
	public PolicyRateLimiter(Supplier<PolicySet> policies, CounterKeys keys, Counters counters, Fallback fallback,
			LimiterOptions options, List<DecisionListener> listeners, Splitting splitting) {
		this(policies, keys, counters, fallback, options, listeners, splitting, (counter) -> {
		});
	}

	/**
	 * Creates a limiter.
	 * @param refusals is told of each counter that refuses a request
	 */
	public PolicyRateLimiter(Supplier<PolicySet> policies, CounterKeys keys, Counters counters, Fallback fallback,
			LimiterOptions options, List<DecisionListener> listeners, Splitting splitting, Consumer<Counter> refusals) {
		this.policies = policies;
		this.resolver = new CounterResolver(keys, options.ipv6Prefix());
		this.counters = counters;
		this.parts = new Parts(counters, splitting, ThreadLocalRandom.current().nextInt());
		this.unknowns = new Unknowns(this.resolver, this.parts);
		this.fallback = fallback;
		this.degradation = new Degradation(fallback, keys, this.resolver);
		this.observers = new Observers(listeners, System::nanoTime);
		this.beside = new Beside(this.resolver, this.parts, this.observers, options.timeout());
		this.options = options;
		this.refusals = refusals;
	}

	@Override
	public CompletionStage<Decision> check(Request request) {
		return check(request, true);
	}

	/** Never waits: without counters that answered, failure modes decide in-process. */
	@Override
	public Decision checkNow(Request request) {
		return check(request, false).toCompletableFuture().join();
	}

	private CompletionStage<Decision> check(Request asked, boolean waits) {
		long start = System.nanoTime();
		PolicySet policies = this.policies.get();
		Request request = this.unknowns.fill(policies, asked);
		CompletableFuture<Decision> decision = decide(policies, request, waits).toCompletableFuture();
		if (isThere(decision)) {
			this.beside.decided(policies, request, this.observers.observe(request, decision.join(), start));
			return decision;
		}
		CompletableFuture<Decision> observed = decision.handle((decided, failure) -> this.observers.observe(request,
				(failure == null) ? decided : lastResort(policies, request, failure), start));
		return (policies.comparison(request.policy()) != null) ? this.beside.after(observed, policies, request)
				: observed;
	}

	@Override
	public CompletionStage<Decision> degrade(Request asked, Throwable failure) {
		long start = System.nanoTime();
		PolicySet policies = this.policies.get();
		Request request = this.unknowns.fill(policies, asked);
		this.observers.unresolved(failure);
		return unresolved(policies, request).handle((decided, further) -> this.observers.observe(request,
				(further == null) ? decided : lastResort(policies, request, further), start));
	}

	private CompletionStage<Decision> unresolved(PolicySet policies, Request request) {
		try {
			if (policies.denies(request)) {
				return turnedAway(request, Decision.Reason.LIST);
			}
			Match match = policies.match(request);
			return (match != null) ? failed(match, request, Decision.Reason.INTERNAL) : unknownPolicy(request);
		}
		catch (RuntimeException ex) {
			this.observers.unanswered(UnansweredException.of(ex));
			return withoutPolicy(request);
		}
	}

	/**
	 * What the request's caller has used, without taking anything and whatever the lists
	 * say.
	 * @throws IllegalArgumentException if there is no such policy or the request lacks a
	 * dimension
	 */
	public CompletionStage<List<LimitStatus>> peek(Request request) {
		return this.counters.acquire(this.parts.all(counters(request)), Permits.NONE).thenApply(Grant::statuses);
	}

	/**
	 * Forgets what was counted for the request's caller, under every limit of the policy.
	 * @throws IllegalArgumentException if there is no such policy or the request lacks a
	 * dimension
	 */
	public CompletionStage<Void> reset(Request request) {
		List<Counter> counters = new ArrayList<>(this.parts.all(counters(request)));
		Match beside = this.policies.get().beside(request);
		List<Counter> tried = (beside != null) ? this.resolver.resolve(beside, request) : null;
		if (tried != null) {
			counters.addAll(this.parts.all(tried));
		}
		return this.counters.reset(counters);
	}

	/**
	 * The counters of single callers, for operators.
	 */
	public CallerUsage usage() {
		return new CallerUsage(this.policies, this.resolver, this.counters, this.parts);
	}

	/**
	 * Why counters did not answer within the last seconds, {@code null} if they always
	 * did.
	 */
	public Decision.@Nullable Reason degraded() {
		return this.observers.degraded();
	}

	private CompletionStage<Decision> decide(PolicySet policies, Request request, boolean waits) {
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
			if (counters.isEmpty() && !this.unknowns.withholds(match, request)) {
				return bypassed(match, request, Decision.Reason.IDENTITY);
			}
			FailureMode forced = this.fallback.forced().get();
			if (forced != null) {
				return shadowed(match, this.degradation.decide(forced, match, request,
						this.unknowns.all(match, request, counters), Decision.Reason.SWITCH));
			}
			return shadowed(match, acquire(match, request, counters, waits));
		}
		catch (RuntimeException ex) {
			Decision.Reason reason = this.observers.unanswered(UnansweredException.of(ex));
			return (match != null) ? failed(match, request, reason) : withoutPolicy(request);
		}
	}

	private CompletionStage<Decision> acquire(Match match, Request request, List<Counter> counters, boolean waits) {
		Permits permits = Permits.between(request.atLeast(), request.cost());
		Duration timeout = match.policy().settings().timeout();
		CompletableFuture<Grant> answer = this.unknowns
			.acquire(match, request, counters, permits, (timeout != null) ? timeout : this.options.timeout())
			.toCompletableFuture();
		if (isThere(answer)) {
			return decided(match, request, answer.join());
		}
		if (!waits && !answer.isDone()) {
			return decided(match, request, Grant.unanswered(permits, this.unknowns.all(match, request, counters),
					UnansweredException.notAwaited(answer)));
		}
		return new Pending(answer, (grant, failure) -> decided(match, request, (failure == null) ? grant
				: Grant.unanswered(permits, this.unknowns.all(match, request, counters), failure)));
	}

	/** What was decided in-process goes on without a detour. */
	private static boolean isThere(CompletableFuture<?> future) {
		return future.isDone() && !future.isCompletedExceptionally();
	}

	private CompletionStage<Decision> decided(Match match, Request request, Grant grant) {
		if (!grant.complete()) {
			return patched(match, request, grant);
		}
		this.observers.answered();
		return CompletableFuture.completedFuture(decision(match, request, grant, null));
	}

	/**
	 * Some of the counters did not answer, or none did: the failure mode speaks for them,
	 * the others still hold. What a request that is refused has taken is given back, and
	 * so is what it takes too late.
	 */
	private CompletionStage<Decision> patched(Match match, Request request, Grant grant) {
		Decision.Reason reason = this.observers.unanswered(grant.gaps().get(0).cause());
		CompletionStage<Decision> decision = grant.refused()
				? CompletableFuture.completedFuture(decision(match, request, grant, match.onFailure()))
				: this.degradation.decide(match.onFailure(), match, request, grant, reason)
					.thenApply((patch) -> merged(match, request, grant, patch));
		return decision.thenApply((merged) -> {
			long kept = merged.allowed() ? grant.permits() : 0;
			if (!grant.readings().isEmpty() && grant.permits() > kept) {
				this.counters.giveBack(grant, grant.permits() - kept);
			}
			giveBackLate(kept, grant);
			return merged;
		});
	}

	private Decision merged(Match match, Request request, Grant grant, Decision patch) {
		if (!patch.allowed()) {
			return patch.at(grant.gaps().get(0).cause().node());
		}
		if (grant.readings().isEmpty()) {
			return patch;
		}
		Decision answered = decision(match, request, grant, patch.mode());
		return answered.with(patch.reason(), patch.limits());
	}

	/** What comes late may have gaps of its own, which are filled later still. */
	private void giveBackLate(long kept, Grant grant) {
		grant.gaps().forEach((gap) -> gap.cause().late().thenAccept((late) -> {
			if (late.permits() > kept && !late.readings().isEmpty()) {
				this.counters.giveBack(late, late.permits() - kept);
			}
			giveBackLate(kept, late);
		}));
	}

	private Decision decision(Match match, Request request, Grant grant, @Nullable FailureMode mode) {
		Decision.Outcome outcome = grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED;
		Counter refusing = match.shadow() ? null : grant.refusing();
		if (refusing != null) {
			this.refusals.accept(refusing);
		}
		Receipt receipt = (grant.permits() > 0) ? new GrantReceipt(this.counters, grant) : Receipt.NOTHING;
		return new Decision(match.policy().id(), match.policy().version(), !grant.refused(), outcome,
				Decision.Reason.LIMITS, grant.source(), false, mode, request.cost(), grant.permits(), grant.statuses(),
				receipt, grant.node());
	}

	private CompletionStage<Decision> failed(Match match, Request request, Decision.Reason reason) {
		try {
			List<Counter> counters = this.resolver.resolve(match, request);
			return shadowed(match, this.degradation.decide(match.onFailure(), match, request,
					(counters != null) ? this.unknowns.all(match, request, counters) : List.of(), reason));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/**
	 * The failure mode itself has failed, and a check must not. The deny-list was asked
	 * before.
	 */
	private Decision lastResort(PolicySet policies, Request request, Throwable failure) {
		this.observers.unanswered(UnansweredException.of(failure));
		Match match = policies.match(request);
		boolean deny = match != null && match.onFailure() == FailureMode.DENY && !match.shadow();
		return Decision.by(deny ? FailureMode.DENY : FailureMode.ALLOW, request,
				(match != null) ? match.policy().version() : 0, Decision.Reason.INTERNAL);
	}

	/** In shadow nothing is ever refused, only reported. */
	private static CompletionStage<Decision> shadowed(Match match, CompletionStage<Decision> decision) {
		return match.shadow() ? decision.thenApply(Decision::inShadow) : decision;
	}

	private CompletionStage<Decision> unknownPolicy(Request request) {
		this.observers.unknownPolicy(request.policy(), this.options.onUnknownPolicy());
		return withoutPolicy(request);
	}

	private CompletionStage<Decision> withoutPolicy(Request request) {
		boolean allowed = this.options.onUnknownPolicy() == FailureMode.ALLOW;
		return CompletableFuture.completedFuture(
				Decision.without(request, 0, allowed, Decision.Outcome.ERROR, Decision.Reason.UNKNOWN_POLICY));
	}

	private static CompletionStage<Decision> bypassed(Match match, Request request, Decision.Reason reason) {
		return CompletableFuture.completedFuture(
				Decision.without(request, match.policy().version(), true, Decision.Outcome.BYPASSED, reason));
	}

	private static CompletionStage<Decision> turnedAway(Request request, Decision.Reason reason) {
		return CompletableFuture.completedFuture(Decision.without(request, 0, false, Decision.Outcome.DENIED, reason));
	}

	private Match match(Request request) {
		Match match = this.policies.get().match(request);
		if (match == null) {
			throw new IllegalArgumentException("there is no policy '" + request.policy() + "'");
		}
		return match;
	}

	private List<Counter> counters(Request request) {
		Match match = match(request);
		List<Counter> counters = this.resolver.resolve(match, request);
		if (counters == null || counters.isEmpty()) {
			throw new IllegalArgumentException(
					"policy '" + request.policy() + "' counts by dimensions that the request does not have");
		}
		return counters;
	}

}
