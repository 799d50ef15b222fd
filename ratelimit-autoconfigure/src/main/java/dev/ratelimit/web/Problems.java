package dev.ratelimit.web;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Quota;
import dev.ratelimit.background.FailureLog;
import dev.ratelimit.json.Json;
import dev.ratelimit.json.JsonObject;

/**
 * Problem documents (RFC 9457) for refused requests. They name policies and limits, never
 * a caller's value.
 */
final class Problems {

	private static final Logger logger = LoggerFactory.getLogger(Problems.class);

	private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

	private final List<ProblemCustomizer> customizers;

	private final FailureLog failures = FailureLog.once(logger,
			"A problem customizer failed; problem documents are sent as they are");

	Problems(List<ProblemCustomizer> customizers) {
		this.customizers = List.copyOf(customizers);
	}

	/**
	 * A limit refused.
	 * @param retryAfter {@code null} if the cost never fits
	 */
	HttpAnswer.Problem refused(Decision decision, LimitStatus status, @Nullable RetryAfter retryAfter,
			long resetSeconds, Call call) {
		JsonObject problem = problem(TYPES + "quota-exceeded", "Quota exceeded", 429, detail(decision, status),
				decision)
			.with("limit", status.limit().name())
			.with("scope", status.limit().scope())
			.with("quota", status.quota().toString())
			.with("window", status.quota().window().toSeconds())
			.with("retryAfter", (retryAfter != null) ? retryAfter.seconds() : null)
			.with("retryAfterMs", (retryAfter != null) ? retryAfter.millis() : null)
			.with("resetAt", Instant.ofEpochSecond(resetSeconds).toString())
			.with("violated-policies",
					decision.limits().stream().filter(LimitStatus::refuses).map(DraftFields::name).toList());
		return write(problem, decision, call);
	}

	/**
	 * The caller is banned.
	 */
	HttpAnswer.Problem banned(Decision decision, RetryAfter retryAfter, Call call) {
		LimitStatus status = decision.decisive();
		return write(problem(TYPES + "abnormal-usage-detected", "Abnormal usage detected", 429,
				"Too many requests were sent without waiting for Retry-After; this caller is banned for a while",
				decision)
			.with("limit", (status != null) ? status.limit().name() : null)
			.with("scope", (status != null) ? status.limit().scope() : null)
			.with("retryAfter", retryAfter.seconds())
			.with("retryAfterMs", retryAfter.millis()), decision, call);
	}

	/**
	 * Redis is unavailable and the policy fails closed.
	 */
	HttpAnswer.Problem unavailable(Decision decision, RetryAfter retryAfter, Call call) {
		return write(problem(TYPES + "temporary-reduced-capacity", "Temporarily reduced capacity", 503,
				"Limits cannot be checked at the moment; this says nothing about how much was used", decision)
			.with("retryAfter", retryAfter.seconds())
			.with("retryAfterMs", retryAfter.millis()), decision, call);
	}

	/**
	 * The request lacks what its limits count by.
	 */
	HttpAnswer.Problem unidentified(Decision decision, Call call) {
		return write(
				problem("about:blank", "Unauthorized", 401,
						"Limits are kept per caller, and this request does not say who calls", decision),
				decision, call);
	}

	/**
	 * The caller is on the deny-list.
	 */
	HttpAnswer.Problem denied(Decision decision, Call call) {
		return write(problem("about:blank", "Forbidden", 403, "Requests of this caller are turned away", decision),
				decision, call);
	}

	private static JsonObject problem(String type, String title, int status, String detail, Decision decision) {
		return new JsonObject().with("type", type)
			.with("title", title)
			.with("status", status)
			.with("detail", detail)
			.with("policy", decision.policy());
	}

	private static String detail(Decision decision, LimitStatus status) {
		Quota quota = status.quota();
		String limit = quota.permits() + " per " + quota.window().toSeconds() + " s";
		if (decision.reason() == Decision.Reason.COOL_DOWN) {
			return "Too many requests were sent without waiting for Retry-After; this caller has to wait for a cool-down";
		}
		String whom = status.limit().by().isEmpty() ? "all callers" : status.limit().scope();
		return status.neverFits()
				? "Cost of " + decision.cost() + " never fits under the limit of " + limit + " for " + whom
						+ ", which admits at most " + quota.burst() + " at once"
				: "Limit of " + limit + " exceeded for " + whom;
	}

	private HttpAnswer.Problem write(JsonObject problem, Decision decision, Call call) {
		String traceId = call.traceId();
		problem.with("url", call.url()).with("traceId", (traceId != null && !traceId.isBlank()) ? traceId : null);
		if (!this.customizers.isEmpty()) {
			try {
				Map<String, Object> customized = new LinkedHashMap<>(problem);
				this.customizers.forEach((customizer) -> customizer.customize(customized, decision));
				return new HttpAnswer.Problem(customized, Json.write(customized));
			}
			catch (RuntimeException ex) {
				this.failures.failed(ex);
			}
		}
		return new HttpAnswer.Problem(problem, Json.write(problem));
	}

	/**
	 * The call that was refused.
	 *
	 * @param traceId {@code null} if there is no trace
	 * @param url name of the URL entry that was checked, {@code null} if another edge was
	 */
	record Call(@Nullable String traceId, @Nullable String url) {
	}

}
