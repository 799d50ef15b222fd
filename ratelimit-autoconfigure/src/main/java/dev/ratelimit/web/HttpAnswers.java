package dev.ratelimit.web;

import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

import org.jspecify.annotations.Nullable;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;

/**
 * Makes HTTP of decisions: status, headers and problem document. The one place that knows
 * which decision has which status.
 */
public final class HttpAnswers {

	private static final HttpAnswer NOTHING = new HttpAnswer(0, Map.of(), null);

	/**
	 * How long to stay away when nobody knows for how long: a breaker probes within
	 * seconds, and with the jitter callers come back after one or two.
	 */
	private static final long UNAVAILABLE_MICROS = 1_000_000;

	/** What a 401 has to have; a token is what most callers are known by. */
	private static final Map<String, String> CHALLENGE = Map.of("WWW-Authenticate", "Bearer");

	/**
	 * What the caller is to hear of several: a degraded answer, which has no number at
	 * all, then the smallest number, then the longest reset.
	 */
	private static final Comparator<Decision> MOST_CONSTRAINED = Comparator
		.comparingLong((Decision decision) -> decision.degraded() ? -1 : decision.remaining())
		.thenComparing(Comparator.comparingLong(HttpAnswers::resetAfter).reversed());

	private final HeaderOptions options;

	private final LongSupplier epochMillis;

	private final LongUnaryOperator jitter;

	private final Problems problems;

	/**
	 * Creates a writer of answers.
	 * @param options which headers are written
	 * @param epochMillis the wall clock
	 * @param jitter gives a random number of milliseconds, from 0 to the largest one that
	 * it is given
	 * @param customizers change problem documents, in this order
	 */
	public HttpAnswers(HeaderOptions options, LongSupplier epochMillis, LongUnaryOperator jitter,
			List<ProblemCustomizer> customizers) {
		this.options = options;
		this.epochMillis = epochMillis;
		this.jitter = jitter;
		this.problems = new Problems(customizers);
	}

	/**
	 * The answer to a request that several policies decided, in their order: the first
	 * that turned it away decides; otherwise the most constrained is told.
	 */
	public HttpAnswer answer(List<Decision> decisions, @Nullable String traceId) {
		for (Decision decision : decisions) {
			if (!decision.allowed()) {
				return answer(decision, traceId);
			}
		}
		return decisions.stream()
			.filter(HttpAnswers::isTold)
			.min(MOST_CONSTRAINED)
			.map((decision) -> answer(decision, traceId))
			.orElse(NOTHING);
	}

	/**
	 * The answer to a request that one policy decided.
	 * @param decision what was decided
	 * @param traceId for problem documents, {@code null} if there is no trace
	 */
	public HttpAnswer answer(Decision decision, @Nullable String traceId) {
		if (decision.allowed()) {
			return isTold(decision) ? goesOn(decision) : NOTHING;
		}
		return switch (decision.outcome()) {
			case REFUSED -> refused(decision, traceId);
			case DENIED -> (decision.reason() == Decision.Reason.IDENTITY)
					? new HttpAnswer(401, CHALLENGE, this.problems.unidentified(decision, traceId))
					: new HttpAnswer(403, Map.of(), this.problems.denied(decision, traceId));
			// The last three let requests pass; one that did not is our fault.
			case ERROR, ALLOWED, BYPASSED, SHADOW_REFUSED -> unavailable(decision, traceId);
		};
	}

	/**
	 * When a caller that was turned away may come back, for an edge whose answer is not
	 * ours to write: seconds, jittered; {@code null} if it is pointless.
	 */
	public @Nullable Long retryAfter(Decision decision) {
		LimitStatus refusing = decision.refusedBy();
		if (decision.allowed() || decision.outcome() == Decision.Outcome.DENIED
				|| (refusing != null && refusing.neverFits())) {
			return null;
		}
		return RetryAfter.of((refusing != null) ? refusing.retryAfterMicros() : UNAVAILABLE_MICROS, this.jitter)
			.seconds();
	}

	/** Shadow must not be seen, and who bypassed the limits has none to hear of. */
	private static boolean isTold(Decision decision) {
		return !decision.shadow() && (decision.degraded() || !decision.limits().isEmpty());
	}

	private HttpAnswer goesOn(Decision decision) {
		Map<String, String> headers = new LinkedHashMap<>();
		LimitStatus decisive = decision.decisive();
		if (decision.degraded() || decisive == null) {
			if (this.options.marker()) {
				RateLimitHeaders.writeDegraded(headers);
			}
		}
		else {
			write(headers, decision, decisive, resetSeconds(decisive));
		}
		return new HttpAnswer(0, Collections.unmodifiableMap(headers), null);
	}

	private HttpAnswer refused(Decision decision, @Nullable String traceId) {
		LimitStatus refusing = decision.refusedBy();
		if (refusing == null) {
			return unavailable(decision, traceId);
		}
		Map<String, String> headers = new LinkedHashMap<>();
		long resetSeconds = resetSeconds(refusing);
		if (!decision.degraded()) {
			write(headers, decision, refusing, resetSeconds);
		}
		else if (this.options.marker()) {
			RateLimitHeaders.writeDegradedPolicy(headers);
		}
		if (this.options.legacy()) {
			RateLimitHeaders.writeScope(headers, refusing.limit());
		}
		RetryAfter retryAfter = refusing.neverFits() ? null : RetryAfter.of(refusing.retryAfterMicros(), this.jitter);
		if (retryAfter != null) {
			writeRetryAfter(headers, retryAfter);
		}
		HttpAnswer.Problem problem = this.problems.refused(decision, refusing, retryAfter, resetSeconds, traceId);
		return new HttpAnswer(429, Collections.unmodifiableMap(headers), problem);
	}

	private HttpAnswer unavailable(Decision decision, @Nullable String traceId) {
		Map<String, String> headers = new LinkedHashMap<>();
		RetryAfter retryAfter = RetryAfter.of(UNAVAILABLE_MICROS, this.jitter);
		writeRetryAfter(headers, retryAfter);
		return new HttpAnswer(503, Collections.unmodifiableMap(headers),
				this.problems.unavailable(decision, retryAfter, traceId));
	}

	private void write(Map<String, String> headers, Decision decision, LimitStatus status, long resetSeconds) {
		if (this.options.legacy()) {
			RateLimitHeaders.write(headers, decision.policy(), status, resetSeconds);
		}
		if (this.options.draft()) {
			DraftFields.write(headers, decision.limits(), status);
		}
	}

	private static void writeRetryAfter(Map<String, String> headers, RetryAfter retryAfter) {
		headers.put("Retry-After", Long.toString(retryAfter.seconds()));
	}

	private long resetSeconds(LimitStatus status) {
		return RetryAfter.ceil(this.epochMillis.getAsLong() * 1_000 + status.resetAfterMicros(), 1_000_000);
	}

	private static long resetAfter(Decision decision) {
		LimitStatus decisive = decision.decisive();
		return (decisive != null) ? decisive.resetAfterMicros() : 0;
	}

}
