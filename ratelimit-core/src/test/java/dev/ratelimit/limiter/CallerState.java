package dev.ratelimit.limiter;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

import dev.ratelimit.LimitStatus;
import dev.ratelimit.Request;

/**
 * Reads and resets all counters of a caller.
 */
public final class CallerState {

	private CallerState() {
	}

	public static CompletionStage<List<LimitStatus>> peek(PolicyRateLimiter limiter, Request request) {
		return limiter.usage()
			.read(find(limiter, request), request)
			.thenApply((usages) -> usages.stream().flatMap((usage) -> usage.statuses().stream()).toList());
	}

	public static CompletionStage<Void> reset(PolicyRateLimiter limiter, Request request) {
		return limiter.usage().reset(find(limiter, request), request);
	}

	private static CallerUsage.Found find(PolicyRateLimiter limiter, Request request) {
		return Objects.requireNonNull(limiter.usage().find(request, (limit) -> true));
	}

}
