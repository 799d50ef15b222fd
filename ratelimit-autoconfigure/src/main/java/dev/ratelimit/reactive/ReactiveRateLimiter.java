package dev.ratelimit.reactive;

import reactor.core.publisher.Mono;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

/**
 * The limiter for code that speaks Reactor.
 */
@FunctionalInterface
public interface ReactiveRateLimiter {

	/**
	 * Decides a request, once per subscription.
	 */
	Mono<Decision> check(Request request);

	static ReactiveRateLimiter of(RateLimiter limiter) {
		return (request) -> Mono.defer(() -> Mono.fromCompletionStage(limiter.check(request)));
	}

}
