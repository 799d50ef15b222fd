package dev.ratelimit.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.springframework.beans.factory.SmartInitializingSingleton;

import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.redis.RedisCounters;

/**
 * Makes checks before the first caller comes. A cold check takes longer than a deadline:
 * the first requests would time out and open a breaker. These checks use no breaker and
 * no listener, and take no permits.
 */
final class WarmUp implements SmartInitializingSingleton {

	/** Enough for compiled code, and to reach every node. */
	private static final int CHECKS = 1_000;

	private static final Duration AT_MOST = Duration.ofMillis(500);

	private final PolicyRateLimiter limiter;

	WarmUp(RedisCounters redis, CounterKeys keys, Deadlines deadlines, Fallback fallback) {
		Policy policy = Policy.builder("warm-up")
			.limit("per-user", List.of(Dimension.TENANT, Dimension.USER), "1/s")
			.limit("per-ip", List.of(Dimension.IP), "1/s", "1/m")
			.build();
		Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of());
		this.limiter = RateLimiterBuilder.on(RateLimiterBuilder.guarded(redis, nodes, deadlines, Duration.ZERO))
			.policies(policy)
			.keys(keys)
			.fallback(fallback)
			.options(new LimiterOptions(AT_MOST, FailureMode.ALLOW, 64))
			.build();
	}

	@Override
	public void afterSingletonsInstantiated() {
		long start = System.nanoTime();
		for (int i = 0; i < CHECKS && System.nanoTime() - start < AT_MOST.toNanos(); i++) {
			Request request = Request.of("warm-up")
				.with(Dimension.TENANT, "tenant-" + i)
				.with(Dimension.USER, "user")
				.with(Dimension.IP, "192.0.2." + i % 256)
				.withCost(0);
			if (this.limiter.check(request).toCompletableFuture().join().degraded()) {
				return;
			}
		}
	}

}
