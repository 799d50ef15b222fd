package dev.ratelimit.web;

import java.util.Map;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;

/**
 * The {@code X-RateLimit-*} fields, which no standard defines and most clients read.
 */
final class RateLimitHeaders {

	private static final String POLICY = "X-RateLimit-Policy";

	private static final String REMAINING = "X-RateLimit-Remaining";

	private RateLimitHeaders() {
	}

	/**
	 * Writes where a caller stands. The limit is the burst: that is what the remaining
	 * permits count down from.
	 */
	static void write(Map<String, String> headers, String policy, LimitStatus status, long resetSeconds) {
		headers.put("X-RateLimit-Limit", Long.toString(status.quota().burst()));
		headers.put(REMAINING, Long.toString(status.remaining()));
		headers.put("X-RateLimit-Reset", Long.toString(resetSeconds));
		headers.put(POLICY, policy);
	}

	/**
	 * Writes which limit refused.
	 */
	static void writeScope(Map<String, String> headers, Limit limit) {
		headers.put("X-RateLimit-Scope", limit.scope());
	}

	/**
	 * Writes that nobody knows where the caller stands.
	 */
	static void writeDegraded(Map<String, String> headers) {
		headers.put(REMAINING, "-1");
		writeDegradedPolicy(headers);
	}

	static void writeDegradedPolicy(Map<String, String> headers) {
		headers.put(POLICY, "degraded");
	}

}
