package dev.ratelimit.grpc;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.grpc.Context;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;

import static org.awaitility.Awaitility.await;

/**
 * A limiter that admits requests when the test says so, one after the other. A request
 * with cost 0 is admitted at once.
 */
@Configuration(proxyBeanMethods = false)
class HandDrivenLimiter {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final AtomicInteger asked = new AtomicInteger();

	private final AtomicLong returned = new AtomicLong();

	/** Completes when the server knows that a caller has left. */
	private final CompletableFuture<Context> left = new CompletableFuture<>();

	private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

	private volatile boolean atOnce;

	@Bean
	RateLimiter limiter() {
		return this::check;
	}

	private CompletableFuture<Decision> check(Request request) {
		CompletableFuture<Decision> decision = new CompletableFuture<>();
		if (request.cost() == 0) {
			decision.complete(admitted(request));
			return decision;
		}
		Context.current().addListener(this.left::complete, Runnable::run);
		this.waiting.add(() -> decision.complete(admitted(request)));
		this.asked.incrementAndGet();
		if (this.atOnce) {
			decideAll();
		}
		return decision;
	}

	private Decision admitted(Request request) {
		return new Decision(request.policy(), 0, true, Decision.Outcome.ALLOWED, Decision.Reason.LIMITS,
				Decision.Source.MEMORY, false, null, request.cost(), request.cost(), List.of(), (permits) -> {
					this.returned.addAndGet(permits);
					return CompletableFuture.completedStage(null);
				});
	}

	/** How many requests with a cost there were. */
	int asked() {
		return this.asked.get();
	}

	/** How many of them are not decided. */
	int waiting() {
		return this.waiting.size();
	}

	/** How many permits were given back. */
	long returned() {
		return this.returned.get();
	}

	CompletableFuture<Context> left() {
		return this.left;
	}

	void awaitOne() {
		await().atMost(LONG).until(() -> !this.waiting.isEmpty());
	}

	/** Decides the next one. */
	void decide() {
		awaitOne();
		this.waiting.remove().run();
	}

	/** Decides what waits, and from then on everything. */
	void decideAll() {
		this.atOnce = true;
		for (Runnable next = this.waiting.poll(); next != null; next = this.waiting.poll()) {
			next.run();
		}
	}

}
