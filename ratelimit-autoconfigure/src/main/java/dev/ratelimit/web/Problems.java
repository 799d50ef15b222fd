package dev.ratelimit.web;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;

/**
 * Problem documents (RFC 9457) for requests that were turned away. They name policies and
 * limits, never a caller's value.
 */
final class Problems {

	private static final Logger logger = LoggerFactory.getLogger(Problems.class);

	private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

	private final List<ProblemCustomizer> customizers;

	private final AtomicBoolean customizerFailed = new AtomicBoolean();

	Problems(List<ProblemCustomizer> customizers) {
		this.customizers = List.copyOf(customizers);
	}

	/**
	 * A limit refused.
	 * @param retryAfter {@code null} if the cost never fits
	 */
	HttpAnswer.Problem refused(Decision decision, LimitStatus status, @Nullable RetryAfter retryAfter,
			long resetSeconds, @Nullable String traceId) {
		Map<String, Object> problem = problem(TYPES + "quota-exceeded", "Quota exceeded", 429,
				detail(decision, status));
		problem.put("policy", decision.policy());
		problem.put("limit", status.limit().name());
		problem.put("scope", status.limit().scope());
		problem.put("quota", status.quota().toString());
		problem.put("window", status.quota().window().toSeconds());
		put(problem, retryAfter);
		problem.put("resetAt", Instant.ofEpochSecond(resetSeconds).toString());
		problem.put("violated-policies",
				decision.limits().stream().filter(LimitStatus::refuses).map(DraftFields::name).toList());
		return write(problem, decision, traceId);
	}

	/**
	 * Nobody could tell whether there is room.
	 */
	HttpAnswer.Problem unavailable(Decision decision, RetryAfter retryAfter, @Nullable String traceId) {
		Map<String, Object> problem = problem(TYPES + "temporary-reduced-capacity", "Temporarily reduced capacity", 503,
				"Limits cannot be checked at the moment; this says nothing about how much was used");
		problem.put("policy", decision.policy());
		put(problem, retryAfter);
		return write(problem, decision, traceId);
	}

	/**
	 * The request lacks what its limits count by.
	 */
	HttpAnswer.Problem unidentified(Decision decision, @Nullable String traceId) {
		Map<String, Object> problem = problem("about:blank", "Unauthorized", 401,
				"Limits are kept per caller, and this request does not say who calls");
		problem.put("policy", decision.policy());
		return write(problem, decision, traceId);
	}

	/**
	 * The caller is on the deny-list.
	 */
	HttpAnswer.Problem denied(Decision decision, @Nullable String traceId) {
		Map<String, Object> problem = problem("about:blank", "Forbidden", 403,
				"Requests of this caller are turned away");
		problem.put("policy", decision.policy());
		return write(problem, decision, traceId);
	}

	private static Map<String, Object> problem(String type, String title, int status, String detail) {
		Map<String, Object> problem = new LinkedHashMap<>(32);
		problem.put("type", type);
		problem.put("title", title);
		problem.put("status", status);
		problem.put("detail", detail);
		return problem;
	}

	private static void put(Map<String, Object> problem, @Nullable RetryAfter retryAfter) {
		if (retryAfter != null) {
			problem.put("retryAfter", retryAfter.seconds());
			problem.put("retryAfterMs", retryAfter.millis());
		}
	}

	private static String detail(Decision decision, LimitStatus status) {
		Quota quota = status.quota();
		String limit = quota.permits() + " per " + quota.window().toSeconds() + " s";
		String whom = status.limit().by().isEmpty() ? "all callers" : status.limit().scope();
		return status.neverFits()
				? "Cost of " + decision.cost() + " never fits under the limit of " + limit + " for " + whom
						+ ", which admits at most " + quota.burst() + " at once"
				: "Limit of " + limit + " exceeded for " + whom;
	}

	private HttpAnswer.Problem write(Map<String, Object> problem, Decision decision, @Nullable String traceId) {
		if (traceId != null && !traceId.isBlank()) {
			problem.put("traceId", traceId);
		}
		if (!this.customizers.isEmpty()) {
			try {
				Map<String, Object> customized = new LinkedHashMap<>(problem);
				this.customizers.forEach((customizer) -> customizer.customize(customized, decision));
				return new HttpAnswer.Problem(customized, Json.write(customized));
			}
			catch (RuntimeException ex) {
				if (this.customizerFailed.compareAndSet(false, true)) {
					logger.warn("A problem customizer failed; problem documents are sent as they are", ex);
				}
			}
		}
		return new HttpAnswer.Problem(problem, Json.write(problem));
	}

}
