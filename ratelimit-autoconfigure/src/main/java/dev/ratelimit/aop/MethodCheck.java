package dev.ratelimit.aop;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.web.CallTrace;
import dev.ratelimit.web.DimensionResolver;
import dev.ratelimit.web.HttpAnswers;
import dev.ratelimit.web.RequestResolver;
import dev.ratelimit.web.WebCall;

/**
 * Decides one call of a method. What fails on the way is answered by the policy's failure
 * mode, so that its stages never fail.
 */
final class MethodCheck {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitedAspect.class);

	private static final boolean WEB = ClassUtils.isPresent("org.springframework.web.ErrorResponse",
			MethodCheck.class.getClassLoader());

	private static final Dimension KEY = new Dimension("key");

	private final RequestResolver resolver;

	private final RateLimiter limiter;

	private final HttpAnswers answers;

	MethodCheck(RequestResolver resolver, RateLimiter limiter, HttpAnswers answers) {
		this.resolver = resolver;
		this.limiter = limiter;
		this.answers = answers;
	}

	CompletableFuture<Decision> decide(RateLimitedMethod method, @Nullable Object[] arguments,
			@Nullable CurrentCall call) {
		return decide(method, call, cost(method, arguments), key(method, arguments), true);
	}

	/**
	 * Decides on a thread that must not wait: what is not known at once is decided by the
	 * failure mode.
	 */
	Decision decideNow(RateLimitedMethod method, @Nullable Object[] arguments, @Nullable CurrentCall call) {
		Long cost = cost(method, arguments);
		Map<String, DimensionResolver> key = key(method, arguments);
		CompletableFuture<Decision> decision = decide(method, call, cost, key, false);
		return decision.isDone() ? decision.join() : passed(unresolved(method, call, cost, key));
	}

	/** Callers may choose arguments that it fails on, so such a call is not cheap. */
	private static @Nullable Long cost(RateLimitedMethod method, @Nullable Object[] arguments) {
		try {
			return method.cost(arguments);
		}
		catch (RuntimeException | StackOverflowError ex) {
			warn(method, "it is charged the largest cost that fits", ex);
			return RequestResolver.UNKNOWN_COST;
		}
	}

	/** One that fails is missing. */
	private static Map<String, DimensionResolver> key(RateLimitedMethod method, @Nullable Object[] arguments) {
		if (!method.hasKey()) {
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
	 * Tells the trace, and tells the caller what is left or turns it away.
	 * @throws RateLimitExceededException if that is the decision
	 */
	void obey(Decision decision, @Nullable CurrentCall call, CallTrace trace) {
		trace.decided(decision);
		if (!decision.allowed()) {
			throw WEB ? Web.refusal(decision, this.answers, trace) : new RateLimitExceededException(decision);
		}
		if (call != null) {
			try {
				call.announce(decision, this.answers);
			}
			catch (RuntimeException ex) {
				logger.debug("Headers of a decision could not be set; the call goes on", ex);
			}
		}
	}

	private static WebCall facts(RateLimitedMethod method, @Nullable CurrentCall call) {
		return ((call != null) ? call : NoCall.of(method)).facts();
	}

	/** What is known of a call without waiting for more. */
	private Request unresolved(RateLimitedMethod method, @Nullable CurrentCall call, @Nullable Long cost,
			Map<String, DimensionResolver> key) {
		return this.resolver.requestFor(facts(method, call), method.policy(), cost, key);
	}

	private CompletableFuture<Decision> decide(RateLimitedMethod method, @Nullable CurrentCall call,
			@Nullable Long cost, Map<String, DimensionResolver> key, boolean waits) {
		CompletableFuture<Request> resolved = this.resolver.resolve(facts(method, call), method.policy(), cost, key)
			.toCompletableFuture();
		if (!waits && !resolved.isDone()) {
			return check(unresolved(method, call, cost, key), false).toCompletableFuture();
		}
		return resolved.handle((request, unresolved) -> {
			if (unresolved != null) {
				return degrade(unresolved(method, call, cost, key), unresolved);
			}
			if (call instanceof NoCall outside && outside.missed() && this.resolver.lacksCaller(request, KEY)) {
				return degrade(request,
						new CallNotCheckedException("who calls " + method.name() + " is not known on an event loop"));
			}
			return check(request, waits);
		}).thenCompose(Function.identity());
	}

	private CompletionStage<Decision> check(Request request, boolean waits) {
		try {
			CompletionStage<Decision> decision = waits ? this.limiter.check(request)
					: CompletableFuture.completedStage(this.limiter.checkNow(request));
			return decision
				.handle((decided, failure) -> (failure == null) ? CompletableFuture.completedStage(decided)
						: degrade(request, failure))
				.thenCompose(Function.identity());
		}
		catch (RuntimeException ex) {
			return degrade(request, ex);
		}
	}

	private CompletionStage<Decision> degrade(Request request, Throwable failure) {
		try {
			return this.limiter.degrade(request, failure).exceptionally((again) -> passed(request));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.completedStage(passed(request));
		}
	}

	/**
	 * The last resort: not even the failure mode could answer. Only the deny-list holds.
	 */
	Decision passed(Request request) {
		if (this.resolver.denies(request)) {
			return Decision.without(request, 0, false, Decision.Outcome.DENIED, Decision.Reason.LIST);
		}
		return Decision.without(request, 0, true, Decision.Outcome.ERROR, Decision.Reason.INTERNAL);
	}

	private static void warn(RateLimitedMethod method, String effect, Throwable failure) {
		if (method.warnsFirst()) {
			logger.warn("A call of {} could not be understood, {}: {}", method.name(), effect,
					failure(method, failure).getMessage());
		}
	}

	/** Loaded only where there is HTTP. */
	private static final class Web {

		static RateLimitExceededException refusal(Decision decision, HttpAnswers answers, CallTrace trace) {
			return new RateLimitErrorResponseException(decision, () -> answers.answer(decision, trace.id()));
		}

	}

}
