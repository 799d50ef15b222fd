package dev.ratelimit.aop;

import java.net.InetAddress;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
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
		Long cost = null;
		Map<String, DimensionResolver> key = Map.of();
		CallNotCheckedException failure = null;
		try {
			cost = method.cost(arguments);
			if (method.hasKey()) {
				String value = method.key(arguments);
				key = Map.of("key", (any) -> value);
			}
		}
		catch (RuntimeException ex) {
			failure = (ex instanceof CallNotCheckedException expected) ? expected : new CallNotCheckedException(
					"an argument of " + method.name() + " has no text: " + ex.getClass().getSimpleName());
			warn(method, failure);
		}
		return decide(method, call, cost, key, failure);
	}

	/**
	 * The failure mode's answer to a call that could not be checked.
	 */
	CompletableFuture<Decision> fail(RateLimitedMethod method, @Nullable CurrentCall call,
			CallNotCheckedException failure) {
		warn(method, failure);
		return decide(method, call, null, Map.of(), failure);
	}

	/**
	 * Tells the trace, and tells the caller what is left or turns it away.
	 * @throws RateLimitExceededException if that is the decision
	 */
	void obey(Decision decision, @Nullable CurrentCall call, CallTrace trace) {
		trace.decided(decision);
		if (!decision.allowed()) {
			throw new RateLimitExceededException(decision);
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

	private CompletableFuture<Decision> decide(RateLimitedMethod method, @Nullable CurrentCall call,
			@Nullable Long cost, Map<String, DimensionResolver> key, @Nullable CallNotCheckedException failure) {
		WebCall facts = (call != null) ? call.facts() : new NoCall(method.name());
		return this.resolver.resolve(facts, method.policy(), cost, key).handle((request, unresolved) -> {
			if (unresolved != null) {
				return degrade(this.resolver.requestFor(facts, method.policy(), cost), unresolved);
			}
			return (failure != null) ? degrade(request, failure) : check(request);
		}).thenCompose(Function.identity()).toCompletableFuture();
	}

	private CompletionStage<Decision> check(Request request) {
		try {
			return this.limiter.check(request)
				.handle((decision, failure) -> (failure == null) ? CompletableFuture.completedStage(decision)
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

	/** The last resort: not even the failure mode could answer. */
	static Decision passed(Request request) {
		return Decision.without(request, 0, true, Decision.Outcome.ERROR, Decision.Reason.INTERNAL);
	}

	private static void warn(RateLimitedMethod method, CallNotCheckedException failure) {
		if (method.warnsFirst()) {
			logger.warn("A call of {} could not be checked, its policy's failure mode answers: {}", method.name(),
					failure.getMessage());
		}
	}

	/**
	 * Stands for the call where there is none.
	 */
	private record NoCall(String route) implements WebCall {

		@Override
		public String rawPath() {
			return "";
		}

		@Override
		public List<String> headers(String name) {
			return List.of();
		}

		@Override
		public @Nullable InetAddress remoteAddress() {
			return null;
		}

		@Override
		public @Nullable Principal principal() {
			return null;
		}

	}

}
