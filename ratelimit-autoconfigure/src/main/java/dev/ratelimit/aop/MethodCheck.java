package dev.ratelimit.aop;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
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

	/** Methods that a warning was logged about. */
	private final Set<RateLimitedMethod> warned = ConcurrentHashMap.newKeySet();

	MethodCheck(RequestResolver resolver, RateLimiter limiter, HttpAnswers answers) {
		this.resolver = resolver;
		this.check = new CallCheck(resolver, limiter);
		this.answers = answers;
	}

	CompletableFuture<Decision> decide(RateLimitedMethod method, @Nullable Object[] arguments, CurrentCall call) {
		return this.check.decide(subject(method, arguments, call));
	}

	/**
	 * Decides on a thread that must not wait: the failure mode decides what is not known
	 * at once.
	 */
	Decision decideNow(RateLimitedMethod method, @Nullable Object[] arguments, CurrentCall call) {
		return this.check.decideNow(subject(method, arguments, call));
	}

	private CallCheck.Subject subject(RateLimitedMethod method, @Nullable Object[] arguments, CurrentCall call) {
		boolean missed = call instanceof NoCall outside && outside.missed();
		return new CallCheck.Subject(call.facts(), method.policy(), cost(method, arguments), key(method, arguments),
				isAlone(method) ? null : call.decisions(this.answers),
				(request) -> (missed && this.resolver.lacksCaller(request, KEY)) ? new CallNotCheckedException(
						"the caller of " + method.name() + " is not known on an event loop") : null);
	}

	/** Only the handler asks for the call as a whole, as URL entries and routes do. */
	private static boolean isAlone(RateLimitedMethod method) {
		return !method.handler() || method.key() != null;
	}

	/** Callers may choose arguments that make it fail, so such a call is not cheap. */
	private @Nullable Long cost(RateLimitedMethod method, @Nullable Object[] arguments) {
		try {
			return method.cost(arguments);
		}
		catch (RuntimeException | StackOverflowError ex) {
			warn(method, "it is charged the largest cost that fits", ex);
			return RequestResolver.UNKNOWN_COST;
		}
	}

	/** A key that fails counts as missing. */
	private Map<String, DimensionResolver> key(RateLimitedMethod method, @Nullable Object[] arguments) {
		if (method.key() == null) {
			return Map.of();
		}
		try {
			String value = method.key(arguments);
			return Map.of(KEY.name(), (any) -> value);
		}
		catch (RuntimeException | StackOverflowError ex) {
			warn(method, "it counts as a call without a key", ex);
			CallNotCheckedException failure = failure(method, ex);
			return Map.of(KEY.name(), (any) -> {
				throw failure;
			});
		}
	}

	private static CallNotCheckedException failure(RateLimitedMethod method, Throwable failure) {
		return (failure instanceof CallNotCheckedException expected) ? expected : new CallNotCheckedException(
				"an argument of " + method.name() + " has no text: " + failure.getClass().getSimpleName());
	}

	/**
	 * Notes a decision in the trace, and sets response headers or refuses.
	 * @throws RateLimitExceededException if the call is refused
	 */
	void enforce(RateLimitedMethod method, Decision decision, CurrentCall call, CallTrace trace) {
		if (!decision.allowed()) {
			giveBack(method, call);
			throw refusal(method, decision, trace);
		}
		try {
			CallDecisions before = call.decisions(this.answers);
			if (before == null || !before.contains(decision)) {
				trace.decided(decision);
			}
			call.announce(decision, isAlone(method) ? CallDecisions.Edge.ALONE : CallDecisions.Edge.HANDLER,
					this.answers);
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

	private void warn(RateLimitedMethod method, String effect, Throwable failure) {
		if (this.warned.add(method)) {
			logger.warn("A call of {} could not be understood, {}: {}", method.name(), effect,
					failure(method, failure).getMessage());
		}
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
