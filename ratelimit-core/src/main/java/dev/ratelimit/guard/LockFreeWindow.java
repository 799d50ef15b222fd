package dev.ratelimit.guard;

import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowSynchronizationStrategy;

/**
 * Lets a breaker count without locks, which Resilience4j can since 2.3. Must not be
 * loaded with an older one: applications get 2.2 from the BOM of Spring Cloud 2025.0.
 */
final class LockFreeWindow {

	private LockFreeWindow() {
	}

	static void use(CircuitBreakerConfig.Builder config) {
		config.slidingWindowSynchronizationStrategy(SlidingWindowSynchronizationStrategy.LOCK_FREE);
	}

}
