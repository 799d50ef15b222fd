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
 * Turns decisions into HTTP: status, headers and problem document. The one place that
 * knows which decision has which status, and the {@code X-RateLimit-*} fields, which no
 * standard defines and most clients read.
 */
public final class HttpAnswers {

	private static final String RETRY_AFTER = "Retry-After";

	private static final HttpAnswer NOTHING = new HttpAnswer(0, Map.of(), null);

	/**
	 * Retry-After while Redis is unavailable: a breaker probes within seconds, and with
	 * the jitter callers come back after one or two.
	 */
	private static final long UNAVAILABLE_MICROS = 1_000_000;

	/** A 401 must have a challenge; most callers use tokens. */
	private static final Map<String, String> CHALLENGE = Map.of("WWW-Authenticate", "Bearer");

	/**
	 * The order of decisions in headers: degraded first, as it has no number, then the
	 * fewest permits left, then the longest reset.
	 */
	private static final Comparator<Decision> MOST_CONSTRAINED = Comparator
		.comparingLong((Decision decision) -> decision.degraded() ? -1 : decision.remaining())
		.thenComparing(Comparator.comparingLong(HttpAnswers::resetAfter).reversed());

	private final HeaderOptions options;

	private final LongSupplier epochMillis;

	private final LongUnaryOperator jitter;

	private final Problems problems;

	private final DraftFields draftFields = new DraftFields();

	/**
	 * @param options which headers are written
	 * @param epochMillis the wall clock
	 * @param jitter gives a random number of milliseconds, from 0 to its argument
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
	 * refusal, otherwise the headers of the most constrained decision.
	 */
	public HttpAnswer answer(List<Decision> decisions, @Nullable String traceId) {
		Decision shown = null;
		for (Decision decision : decisions) {
			if (!decision.allowed() || decisions.size() == 1) {
				return answer(decision, traceId);
			}
			if (hasHeaders(decision) && (shown == null || MOST_CONSTRAINED.compare(decision, shown) < 0)) {
				shown = decision;
			}
		}
		return (shown != null) ? passed(shown) : NOTHING;
	}

	/**
	 * The answer to a request that one policy decided.
	 * @param decision what was decided
	 * @param traceId for problem documents, {@code null} if there is no trace
	 */
	public HttpAnswer answer(Decision decision, @Nullable String traceId) {
		return answer(decision, new Problems.Call(traceId, null));
	}

	/**
	 * The answer to a request that one URL entry decided.
	 * @param url name of the entry, for problem documents
	 */
	public HttpAnswer answer(Decision decision, @Nullable String traceId, String url) {
		return answer(decision, new Problems.Call(traceId, url));
	}

	private HttpAnswer answer(Decision decision, Problems.Call call) {
		if (decision.allowed()) {
			return passed(decision);
		}
		return switch (decision.outcome()) {
			case REFUSED -> refused(decision, call);
			case DENIED -> switch (decision.reason()) {
				case IDENTITY -> new HttpAnswer(401, CHALLENGE, this.problems.unidentified(decision, call));
				case BAN -> banned(decision, call);
				default -> new HttpAnswer(403, Map.of(), this.problems.denied(decision, call));
			};
			// The last three let requests pass; a refusal with one of them is our fault.
			case ERROR, ALLOWED, BYPASSED, SHADOW_REFUSED -> unavailable(decision, call);
		};
	}

	/**
	 * Jittered seconds until a refused caller may retry, for an edge that writes its own
	 * answer; {@code null} if waiting does not help.
	 */
	public @Nullable Long retryAfter(Decision decision) {
		boolean denied = decision.outcome() == Decision.Outcome.DENIED && decision.reason() != Decision.Reason.BAN;
		if (decision.allowed() || denied) {
			return null;
		}
		LimitStatus refusing = decision.refusedBy();
		if (refusing != null && refusing.neverFits()) {
			return null;
		}
		return RetryAfter.of((refusing != null) ? refusing.retryAfterMicros() : UNAVAILABLE_MICROS, this.jitter)
			.seconds();
	}

	private static boolean hasHeaders(Decision decision) {
		return !decision.shadow() && (decision.degraded() || !decision.limits().isEmpty());
	}

	/** Shadow must not be seen, and a caller that bypassed the limits has none. */
	private HttpAnswer passed(Decision decision) {
		LimitStatus decisive = decision.decisive();
		if (decision.shadow() || (decisive == null && !decision.degraded())) {
			return NOTHING;
		}
		Map<String, String> headers = new LinkedHashMap<>();
		if (decisive != null && !decision.degraded()) {
			write(headers, decision, decisive, resetSeconds(decisive));
		}
		else if (this.options.marker()) {
			headers.put("X-RateLimit-Remaining", "-1");
			headers.put("X-RateLimit-Policy", "degraded");
		}
		return new HttpAnswer(0, Collections.unmodifiableMap(headers), null);
	}

	private HttpAnswer refused(Decision decision, Problems.Call call) {
		LimitStatus refusing = decision.refusedBy();
		if (refusing == null) {
			return unavailable(decision, call);
		}
		Map<String, String> headers = new LinkedHashMap<>();
		long resetSeconds = resetSeconds(refusing);
		if (!decision.degraded()) {
			write(headers, decision, refusing, resetSeconds);
		}
		else if (this.options.marker()) {
			headers.put("X-RateLimit-Policy", "degraded");
		}
		if (this.options.legacy()) {
			headers.put("X-RateLimit-Scope", refusing.limit().scope());
		}
		RetryAfter retryAfter = refusing.neverFits() ? null : RetryAfter.of(refusing.retryAfterMicros(), this.jitter);
		if (retryAfter != null) {
			headers.put(RETRY_AFTER, Long.toString(retryAfter.seconds()));
		}
		HttpAnswer.Problem problem = this.problems.refused(decision, refusing, retryAfter, resetSeconds, call);
		return new HttpAnswer(429, Collections.unmodifiableMap(headers), problem);
	}

	private HttpAnswer banned(Decision decision, Problems.Call call) {
		RetryAfter retryAfter = RetryAfter.of(decision.retryAfter().toNanos() / 1_000, this.jitter);
		return new HttpAnswer(429, Map.of(RETRY_AFTER, Long.toString(retryAfter.seconds())),
				this.problems.banned(decision, retryAfter, call));
	}

	private HttpAnswer unavailable(Decision decision, Problems.Call call) {
		RetryAfter retryAfter = RetryAfter.of(UNAVAILABLE_MICROS, this.jitter);
		return new HttpAnswer(503, Map.of(RETRY_AFTER, Long.toString(retryAfter.seconds())),
				this.problems.unavailable(decision, retryAfter, call));
	}

	/** The legacy limit is the burst: the remaining permits count down from it. */
	private void write(Map<String, String> headers, Decision decision, LimitStatus status, long resetSeconds) {
		if (this.options.legacy()) {
			headers.put("X-RateLimit-Limit", Long.toString(status.quota().burst()));
			headers.put("X-RateLimit-Remaining", Long.toString(status.remaining()));
			headers.put("X-RateLimit-Reset", Long.toString(resetSeconds));
			headers.put("X-RateLimit-Policy", decision.policy());
		}
		if (this.options.draft()) {
			this.draftFields.write(headers, decision, status);
		}
		if (this.options.separate()) {
			headers.put("RateLimit-Limit", Long.toString(status.quota().burst()));
			headers.put("RateLimit-Remaining", Long.toString(status.remaining()));
			headers.put("RateLimit-Reset", Long.toString(-Math.floorDiv(-status.resetAfterMicros(), 1_000_000)));
		}
	}

	/** Rounded up. */
	private long resetSeconds(LimitStatus status) {
		return -Math.floorDiv(-this.epochMillis.getAsLong() * 1_000 - status.resetAfterMicros(), 1_000_000);
	}

	private static long resetAfter(Decision decision) {
		LimitStatus decisive = decision.decisive();
		return (decisive != null) ? decisive.resetAfterMicros() : 0;
	}

}
