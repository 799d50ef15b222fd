package dev.ratelimit.reactive;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

/**
 * The limiter for code that uses Reactor.
 */
@FunctionalInterface
public interface ReactiveRateLimiter {

	/**
	 * Decides a request, once per subscription.
	 */
	Mono<Decision> check(Request request);

	static ReactiveRateLimiter of(RateLimiter limiter) {
		return (request) -> Mono.defer(() -> decided(limiter.check(request)));
	}

	/**
	 * A pending decision. The request is counted even if the subscription is cancelled;
	 * subscribers continue on Reactor's parallel scheduler, not on the threads that
	 * decisions come from.
	 */
	static <T> Mono<T> decided(CompletionStage<T> stage) {
		CompletableFuture<T> decision = stage.toCompletableFuture();
		boolean here = decision.isDone() && !decision.isCompletedExceptionally();
		return here ? Mono.just(decision.join()) : Mono.fromFuture(decision, true).publishOn(Schedulers.parallel());
	}

}
