package dev.ratelimit.limiter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailureMode;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Receipt;
import dev.ratelimit.Request;
import dev.ratelimit.Settlement;
import dev.ratelimit.counter.Attempt;
import dev.ratelimit.counter.AttemptReading;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.UnansweredException;
import dev.ratelimit.penalty.Penalties;
import dev.ratelimit.policy.Match;
import dev.ratelimit.policy.PolicySet;

/**
 * Decides requests by policies. The order in which a request is decided can be read in
 * {@link #decide} and nowhere else.
 *
 * <p>
 * A check never fails: any failure here or below leads to the policy's failure mode.
 */
public final class PolicyRateLimiter implements RateLimiter {

	private static final CompletionStage<?> AT_ONCE = CompletableFuture.completedStage(null);

	/** Marks a caller for whom no counter is asked. */
	private static final CompletionStage<?> UNASKED = CompletableFuture.completedStage(null);

	private static final UnansweredException NOT_AWAITED = new UnansweredException(Decision.Reason.NOT_AWAITED,
			"the answer was not there at once");

	private final Supplier<PolicySet> policies;

	private final CounterResolver resolver;

	private final Counters counters;

	private final Unknowns unknowns;

	private final Fallback fallback;

	private final Degradation degradation;

	private final Observers observers;

	private final Settles settles;

	private final UnansweredChecks unanswered;

	private final TrialRunner trials;

	private final PenaltyRefusals penalties;

	private final LimiterOptions options;

	/**
	 * @param policies supplies the snapshot in force to every request
	 * @param keys makes the keys of counters
	 * @param counters where counters are kept
	 * @param fallback decides while those cannot
	 * @param options options for all policies
	 * @param listeners see every decision
	 * @param penalties cool-downs and bans
	 */
	public PolicyRateLimiter(Supplier<PolicySet> policies, CounterKeys keys, Counters counters, Fallback fallback,
			LimiterOptions options, List<DecisionListener> listeners, Penalties penalties) {
		this.policies = policies;
		this.resolver = new CounterResolver(keys, options.ipv6Prefix());
		this.counters = counters;
		this.unknowns = new Unknowns(this.resolver, counters);
		this.fallback = fallback;
		this.observers = new Observers(listeners, System::nanoTime);
		this.settles = new Settles(counters, this.observers);
		this.degradation = new Degradation(fallback, keys, this.resolver, this.settles);
		this.trials = new TrialRunner(this.resolver, counters, this.observers, this.settles, options.timeout());
		this.penalties = new PenaltyRefusals(penalties);
		this.unanswered = new UnansweredChecks(this.resolver, counters, this.unknowns, this.penalties, this.degradation,
				this.observers, this.settles);
		this.options = options;
	}

	@Override
	public CompletionStage<Decision> check(Request request) {
		return check(request, null);
	}

	@Override
	public CompletionStage<Decision> checkUntil(Request request, CompletionStage<?> end) {
		return check(request, end);
	}

	/** Never waits: where counters have not answered, failure modes decide in-process. */
	@Override
	public Decision checkNow(Request request) {
		return check(request, AT_ONCE).join();
	}

	@Override
	public CompletionStage<Decision> checkUnasked(Request request) {
		return check(request, UNASKED);
	}

	private Check check(Request asked, @Nullable CompletionStage<?> end) {
		PolicySet policies = this.policies.get();
		return check(new Check(this, policies, filled(policies, asked), 0), end);
	}

	private Check check(Check check, @Nullable CompletionStage<?> end) {
		Decision decision = decide(check, end);
		if (decision != null) {
			check.close();
			decided(check, decision);
		}
		return check;
	}

	@Override
	public CompletionStage<Decision> degrade(Request asked, Throwable failure) {
		PolicySet policies = this.policies.get();
		Check check = new Check(this, policies, filled(policies, asked), 0);
		this.observers.unresolved(failure);
		Decision made = unresolved(check);
		Decision decision = made.allowed() ? made : this.penalties.announced(check.known(), check.request(), made);
		check.complete(this.observers.observe(check.request(), decision, check.start()));
		return check;
	}

	private Decision unresolved(Check check) {
		PolicySet policies = check.policies();
		Request request = check.request();
		try {
			if (policies.denies(request)) {
				return turnedAway(request, 0, Decision.Reason.LIST);
			}
			Match match = policies.match(request);
			if (match == null) {
				return unknownPolicy(request);
			}
			check.match(match);
			return this.unanswered.failed(check, match, Decision.Reason.INTERNAL);
		}
		catch (RuntimeException ex) {
			this.observers.unanswered(UnansweredException.of(ex));
			return withoutPolicy(request);
		}
	}

	/**
	 * Settles the true cost of a decision that this or another instance made.
	 * @param receipt from {@link Receipt#encode}
	 * @param actual the true cost in permits, at least 0
	 * @return the outcome; never fails
	 * @throws IllegalArgumentException if the bytes are not a receipt
	 */
	public CompletionStage<Settlement> settle(byte[] receipt, long actual) {
		return this.settles.settle(receipt, actual);
	}

	/**
	 * The same decision with a receipt that can be settled and encoded, also if its
	 * policy has no {@code cost}. From now on, only this receipt has an effect.
	 */
	public Decision settleable(Decision decision) {
		return this.settles.settleable(decision);
	}

	@Override
	public CompletionStage<Decision> charge(Request request) {
		return correct(request, request.cost());
	}

	@Override
	public CompletionStage<Decision> giveBack(Request request) {
		return correct(request, -request.cost());
	}

	/** The counters are read, and corrected when they have answered. */
	private Check correct(Request request, long permits) {
		PolicySet policies = this.policies.get();
		return check(new Check(this, policies, filled(policies, request.withCost(0)), permits), null);
	}

	/**
	 * The counters of single callers, for operators.
	 */
	public CallerUsage usage() {
		return new CallerUsage(this.policies, this.resolver, this.counters);
	}

	/**
	 * The reason why counters did not answer within the last ten seconds, {@code null} if
	 * they always did.
	 */
	public Decision.@Nullable Reason degraded() {
		return this.observers.degraded();
	}

	/**
	 * Decides a request.
	 * @return {@code null} if the counters were asked: they report to the check
	 */
	private @Nullable Decision decide(Check check, @Nullable CompletionStage<?> end) {
		PolicySet policies = check.policies();
		Request request = check.request();
		Match match = null;
		try {
			boolean listed = !policies.listedDimensions().isEmpty();
			if (listed && policies.denies(request)) {
				return turnedAway(request, 0, Decision.Reason.LIST);
			}
			match = policies.match(request);
			if (match == null) {
				return unknownPolicy(request);
			}
			if (listed && policies.allows(request)) {
				return bypassed(match, request, Decision.Reason.LIST);
			}
			List<Counter> counters = this.resolver.resolve(match, request);
			if (counters == null) {
				return shadowed(match, turnedAway(request, match.policy().version(), Decision.Reason.IDENTITY));
			}
			List<Counter> withheld = this.unknowns.withheld(match, request);
			if (counters.isEmpty() && withheld == null) {
				return bypassed(match, request, Decision.Reason.IDENTITY);
			}
			check.match(match);
			Decision held = this.penalties.held(check, match, counters);
			if (held != null) {
				return held;
			}
			FailureMode forced = this.fallback.forced().get();
			if (forced != null) {
				return shadowed(match, this.degradation.decide(forced, match, request, Unknowns.all(counters, withheld),
						Decision.Reason.SWITCH));
			}
			acquire(check, match, counters, withheld, end);
			return null;
		}
		catch (RuntimeException ex) {
			Decision.Reason reason = this.observers.unanswered(UnansweredException.of(ex));
			if (match != null) {
				this.settles.lost(match, check.correction());
			}
			return (match != null) ? this.unanswered.failed(check, match, reason) : withoutPolicy(request);
		}
	}

	/** The counters have answered. Never throws. */
	void answered(Check check, Grant grant) {
		Match match = check.match();
		Decision decision;
		try {
			this.settles.correct(match, grant, check.correction());
			decision = shadowed(match,
					grant.complete() ? decision(match, check.request(), grant, null) : this.unanswered.patched(match,
							check.request(), grant, (mode) -> decision(match, check.request(), grant, mode)));
		}
		catch (Throwable ex) {
			decision = this.unanswered.lastResort(check.policies(), check.request(), ex);
		}
		decided(check, decision);
	}

	/** The trial comes after the caller has its decision. */
	private void decided(Check check, Decision made) {
		Decision decision = made.allowed() ? made : this.penalties.announced(check.known(), check.request(), made);
		check.complete(this.observers.observe(check.request(), decision, check.start()));
		if (check.policies().comparison(check.request().policy()) != null) {
			this.trials.decided(check.policies(), check.request(), decision);
		}
	}

	private Request filled(PolicySet policies, Request request) {
		return (request.unresolved() == Request.Unresolved.NOTHING) ? request : this.unknowns.fill(policies, request);
	}

	private void acquire(Check check, Match match, List<Counter> counters, @Nullable List<Counter> withheld,
			@Nullable CompletionStage<?> end) {
		Permits permits = Permits.between(check.request().atLeast(), check.request().cost());
		if (end == UNASKED) {
			check.accept(Grant.unanswered(permits, new Grant.Gap(Unknowns.all(counters, withheld), NOT_AWAITED)));
			return;
		}
		Duration own = match.policy().settings().timeout();
		Duration timeout = (own != null) ? own : this.options.timeout();
		CompletableFuture<Grant> late = (end == null) ? null : new CompletableFuture<>();
		Consumer<Grant> answer = (late != null) ? late::complete : check;
		Attempt attempt = CounterResolver.attempt(match, check.request(), counters);
		if (withheld != null) {
			this.unknowns.acquire(counters, withheld, permits, attempt, timeout, answer);
		}
		else {
			this.counters.acquire(counters, permits, attempt, timeout, answer);
		}
		if (late != null && end != null) {
			// The first of both answers.
			CompletableFuture<Grant> first = new CompletableFuture<>();
			late.thenAccept(first::complete);
			end.thenRun(() -> first.complete(
					Grant.unanswered(permits, new Grant.Gap(Unknowns.all(counters, withheld), NOT_AWAITED, late))));
			first.thenAccept(check);
		}
	}

	private Decision decision(Match match, Request request, Grant grant, @Nullable FailureMode mode) {
		Decision.Outcome outcome = grant.refused() ? Decision.Outcome.REFUSED : Decision.Outcome.ALLOWED;
		GrantReceipt taken = (grant.permits() == 0) ? null : (match.policy().settings().settling() != null)
				? this.settles.receipt(match, grant) : new GrantReceipt(this.counters, grant);
		return new Decision(match.policy().id(), match.policy().version(), !grant.refused(), outcome,
				Decision.Reason.LIMITS, grant.source(), false, mode, request.cost(), grant.permits(),
				(taken != null) ? taken : grant.statuses(), (taken != null) ? taken : Receipt.NOTHING, grant.node(),
				request.idempotencyKey() != null && AttemptReading.isReplay(grant));
	}

	/** A policy in shadow never refuses, it only reports. */
	static Decision shadowed(Match match, Decision decision) {
		return match.shadow() ? decision.inShadow() : decision;
	}

	private Decision unknownPolicy(Request request) {
		this.observers.unknownPolicy(request.policy(), this.options.onUnknownPolicy());
		return withoutPolicy(request);
	}

	private Decision withoutPolicy(Request request) {
		boolean allowed = this.options.onUnknownPolicy() == FailureMode.ALLOW;
		return Decision.without(request, 0, allowed, Decision.Outcome.ERROR, Decision.Reason.UNKNOWN_POLICY);
	}

	private static Decision bypassed(Match match, Request request, Decision.Reason reason) {
		return Decision.without(request, match.policy().version(), true, Decision.Outcome.BYPASSED, reason);
	}

	private static Decision turnedAway(Request request, long version, Decision.Reason reason) {
		return Decision.without(request, version, false, Decision.Outcome.DENIED, reason);
	}

}
