package dev.ratelimit.reactive;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

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
		return (request) -> Mono.defer(() -> decided(limiter.check(request)));
	}

	/**
	 * A decision that is being made. What was asked is counted whether or not somebody
	 * still waits for it, and whoever does goes on away from the threads that decisions
	 * come from.
	 */
	static Mono<Decision> decided(CompletionStage<Decision> stage) {
		return decided(stage, Schedulers.parallel());
	}

	/**
	 * A decision that is being made, for somebody who knows where to go on.
	 */
	static Mono<Decision> decided(CompletionStage<Decision> stage, Scheduler scheduler) {
		CompletableFuture<Decision> decision = stage.toCompletableFuture();
		boolean here = decision.isDone() && !decision.isCompletedExceptionally();
		return here ? Mono.just(decision.join()) : Mono.fromFuture(decision, true).publishOn(scheduler);
	}

}
