package dev.ratelimit.app.fault;

import io.netty.handler.codec.http.HttpHeaders;

/** What a caller can tell an answer by, without its numbers. */
record Answer(int status, boolean retryAfter, boolean problem, boolean degraded) {

	static Answer of(int status, HttpHeaders headers) {
		return new Answer(status, headers.contains("Retry-After"),
				headers.contains("Content-Type", "application/problem+json", true),
				"degraded".equals(headers.get("X-RateLimit-Policy")));
	}

	boolean admitted() {
		return this.status / 100 == 2;
	}

	boolean refused() {
		return this.status == 429;
	}

	boolean serverError() {
		return this.status / 100 == 5;
	}

	/** The one server error that the limiter means. */
	boolean unavailable() {
		return this.status == 503 && this.retryAfter && this.problem;
	}

}
