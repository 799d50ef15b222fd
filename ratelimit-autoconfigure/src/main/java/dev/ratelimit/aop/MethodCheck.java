package dev.ratelimit.aop;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.web.CallCheck;
import dev.ratelimit.web.CallDecisions;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;

/**
 * Decides one call of a method, by its arguments and its caller.
 */
final class MethodCheck {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitedAspect.class);

	private static final boolean WEB = ClassUtils.isPresent("org.springframework.web.ErrorResponse",
			MethodCheck.class.getClassLoader());

	private static final Dimension KEY = new Dimension("key");

	private final RequestResolver resolver;

	private final CallCheck check;

	private final HttpAnswers answers;

	private final List<DecisionListener> listeners;

	/** Limits that a warning was logged about. */
	private final Set<MethodLimit> warned = ConcurrentHashMap.newKeySet();

	/**
	 * @param listeners hear of calls that a condition lets bypass
	 */
	MethodCheck(RequestResolver resolver, RateLimiter limiter, HttpAnswers answers, List<DecisionListener> listeners) {
		this.resolver = resolver;
		this.check = new CallCheck(resolver, limiter);
		this.answers = answers;
		this.listeners = List.copyOf(listeners);
	}

	CompletableFuture<MethodVerdict> decide(RateLimitedMethod method, @Nullable Object[] arguments, CurrentCall call) {
		return decide(plan(method, arguments, call), this.check::decide);
	}

	/**
	 * Decides on a thread that must not wait: the failure mode decides what is not known
	 * at once.
	 */
	MethodVerdict decideNow(RateLimitedMethod method, @Nullable Object[] arguments, CurrentCall call) {
		return decide(plan(method, arguments, call),
				(subject) -> CompletableFuture.completedFuture(this.check.decideNow(subject)))
			.join();
	}

	/** One limit after the other, until one refuses: then the others take nothing. */
	private CompletableFuture<MethodVerdict> decide(Plan plan,
			Function<CallCheck.Subject, CompletableFuture<Decision>> check) {
		MethodVerdict verdict = plan.verdict();
		for (int i = 0; i < plan.charges().size(); i++) {
			Charge charge = plan.charges().get(i);
			CompletableFuture<Decision> decision = check.apply(charge.subject());
			if (!decision.isDone() || decision.isCompletedExceptionally()) {
				MethodVerdict before = verdict;
				List<Charge> rest = plan.charges().subList(i + 1, plan.charges().size());
				return decision.thenCompose((decided) -> {
					MethodVerdict after = and(before, charge, decided, plan);
					return after.allowed() ? decide(new Plan(rest, after, plan.call()), check)
							: CompletableFuture.completedFuture(after);
				});
			}
			verdict = and(verdict, charge, decision.join(), plan);
			if (!verdict.allowed()) {
				break;
			}
		}
		return CompletableFuture.completedFuture(verdict);
	}

	private MethodVerdict and(MethodVerdict verdict, Charge charge, Decision decision, Plan plan) {
		if (!decision.allowed() && !verdict.passed().isEmpty()) {
			CallDecisions before = plan.call().decisions(this.answers);
			for (MethodVerdict.Passed passed : verdict.passed()) {
				// What an earlier edge has paid is given back with its other decisions.
				if (before == null || !before.contains(passed.decision())) {
					passed.decision().giveBack();
				}
			}
		}
		return verdict.and(charge.limit(), decision);
	}

	/** What a call is charged: each policy and key once, with the larger cost. */
	private Plan plan(RateLimitedMethod method, @Nullable Object[] arguments, CurrentCall call) {
		MethodVerdict verdict = MethodVerdict.NOTHING;
		Map<Object, Charge> charges = new LinkedHashMap<>();
		for (MethodLimit limit : method.limits()) {
			if (!applies(limit, arguments)) {
				verdict = verdict.bypassed(bypass(limit, call));
				continue;
			}
			Charge charge = new Charge(limit, subject(method, limit, arguments, call));
			charges.merge(List.of(limit.policy(), counter(limit, arguments)), charge,
					(first, second) -> cost(second, call) > cost(first, call) ? second : first);
		}
		return new Plan(List.copyOf(charges.values()), verdict, call);
	}

	/** Tells limits of one policy apart that count in different counters. */
	private static Object counter(MethodLimit limit, @Nullable Object[] arguments) {
		if (limit.key() == null) {
			return "";
		}
		try {
			return Optional.ofNullable(limit.key(arguments));
		}
		catch (RuntimeException | StackOverflowError ex) {
			return limit.key();
		}
	}

	private long cost(Charge charge, CurrentCall call) {
		Long cost = charge.subject().cost();
		if (cost != null) {
			return (cost == RequestResolver.UNKNOWN_COST) ? Long.MAX_VALUE : cost;
		}
		return this.resolver.requestFor(call.facts(), charge.limit().policy(), null, Map.of()).cost();
	}

	/** A condition that fails limits the call: callers may choose arguments. */
	private boolean applies(MethodLimit limit, @Nullable Object[] arguments) {
		try {
			return limit.applies(arguments);
		}
		catch (RuntimeException | StackOverflowError ex) {
			warn(limit, "it is limited", ex);
			return true;
		}
	}

	private Decision bypass(MethodLimit limit, CurrentCall call) {
		Request request = this.resolver.requestFor(call.facts(), limit.policy(), 0L, Map.of());
		Decision decision = Decision.without(request, 0, true, Decision.Outcome.BYPASSED, Decision.Reason.LIMITS);
		for (DecisionListener listener : this.listeners) {
			try {
				listener.decided(request, decision, 0);
			}
			catch (RuntimeException ex) {
				logger.debug("A listener failed; the call goes on", ex);
			}
		}
		return decision;
	}

	private CallCheck.Subject subject(RateLimitedMethod method, MethodLimit limit, @Nullable Object[] arguments,
			CurrentCall call) {
		boolean missed = call instanceof NoCall outside && outside.missed();
		return new CallCheck.Subject(call.facts(), limit.policy(), cost(limit, arguments), key(limit, arguments),
				isAlone(method, limit) ? null : call.decisions(this.answers),
				(request) -> (missed && this.resolver.lacksCaller(request, KEY)) ? new CallNotCheckedException(
						"the caller of " + method.name() + " is not known on an event loop") : null);
	}

	/** Only the handler asks for the call as a whole, as URL entries and routes do. */
	private static boolean isAlone(RateLimitedMethod method, MethodLimit limit) {
		return !method.handler() || limit.key() != null;
	}

	/** Callers may choose arguments that make it fail, so such a call is not cheap. */
	private @Nullable Long cost(MethodLimit limit, @Nullable Object[] arguments) {
		try {
			return limit.cost(arguments);
		}
		catch (RuntimeException | StackOverflowError ex) {
			warn(limit, "it is charged the largest cost that fits", ex);
			return RequestResolver.UNKNOWN_COST;
		}
	}

	/** A key that fails counts as missing. */
	private Map<String, DimensionResolver> key(MethodLimit limit, @Nullable Object[] arguments) {
		if (limit.key() == null) {
			return Map.of();
		}
		try {
			String value = limit.key(arguments);
			return Map.of(KEY.name(), (any) -> value);
		}
		catch (RuntimeException | StackOverflowError ex) {
			warn(limit, "it counts as a call without a key", ex);
			CallNotCheckedException failure = failure(limit, ex);
			return Map.of(KEY.name(), (any) -> {
				throw failure;
			});
		}
	}

	private static CallNotCheckedException failure(MethodLimit limit, Throwable failure) {
		return (failure instanceof CallNotCheckedException expected) ? expected : new CallNotCheckedException(
				"an argument of " + limit.name() + " has no text: " + failure.getClass().getSimpleName());
	}

	/**
	 * Notes decisions in the trace, and sets response headers or refuses.
	 * @throws RateLimitExceededException if the call is refused
	 */
	void enforce(RateLimitedMethod method, MethodVerdict verdict, CurrentCall call, CallTrace trace) {
		Decision refusal = verdict.refusal();
		if (refusal != null) {
			giveBack(method, call);
			throw refusal(method, refusal, trace);
		}
		try {
			for (MethodVerdict.Passed passed : verdict.passed()) {
				CallDecisions before = call.decisions(this.answers);
				if (before == null || !before.contains(passed.decision())) {
					trace.decided(passed.decision());
				}
				call.announce(passed.decision(),
						isAlone(method, passed.limit()) ? CallDecisions.Edge.ALONE : CallDecisions.Edge.HANDLER,
						this.answers);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("Headers of a decision could not be set; the call goes on", ex);
		}
	}

	/**
	 * Here and not where the exception is answered: the controller may do that itself. A
	 * fallback serves the call, whose permits stay taken.
	 */
	private void giveBack(RateLimitedMethod method, CurrentCall call) {
		CallDecisions before = (method.handler() && method.fallback() == null) ? call.decisions(this.answers) : null;
		if (before != null) {
			before.giveBack();
		}
	}

	/**
	 * The exception for a decision that refuses, which is noted in the trace.
	 */
	RateLimitExceededException refusal(RateLimitedMethod method, Decision decision, CallTrace trace) {
		trace.decided(decision);
		return WEB ? Web.refusal(method, decision, this.answers, trace) : new RateLimitExceededException(decision);
	}

	private void warn(MethodLimit limit, String effect, Throwable failure) {
		if (this.warned.add(limit)) {
			logger.warn("A call of {} could not be understood, {}: {}", limit.name(), effect,
					failure(limit, failure).getMessage());
		}
	}

	/** A limit and what it is asked. */
	private record Charge(MethodLimit limit, CallCheck.Subject subject) {
	}

	/** What is left to ask about a call, and what is known. */
	private record Plan(List<Charge> charges, MethodVerdict verdict, CurrentCall call) {
	}

	/** Loaded only where there is HTTP. */
	private static final class Web {

		static RateLimitExceededException refusal(RateLimitedMethod method, Decision decision, HttpAnswers answers,
				CallTrace trace) {
			return new RateLimitErrorResponseException(decision, method.handler(),
					() -> answers.answer(decision, trace.id()));
		}

	}

}
