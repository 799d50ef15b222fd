package dev.ratelimit.assembly;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.redis.RedisConnector;
import dev.ratelimit.redis.RedisCounters;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The limiter as a plain library, without Spring.
 */
@ExtendWith(RedisServers.class)
class RateLimiterBuilderIntegrationTests {

	/** So that a busy machine answers in time, also to the first request. */
	private static final LimiterOptions PATIENT = new LimiterOptions(Duration.ofSeconds(10), FailureMode.ALLOW, 64);

	private static final Policy ORDERS = Policy.builder("orders")
		.limit("per-user", List.of(Dimension.USER), "2/h")
		.build();

	private static final Request REQUEST = Request.of("orders").with(Dimension.USER, "ann");

	@Test
	void limitsInMemory() {
		RateLimiter limiter = RateLimiterBuilder.inMemory().policies(ORDERS).build();
		assertThat(decide(limiter)).isEqualTo("allowed memory");
		assertThat(decide(limiter)).isEqualTo("allowed memory");
		assertThat(decide(limiter)).isEqualTo("refused memory");
	}

	@Test
	void limitsOnRedis() {
		RedisServer redis = RedisServers.standalone();
		RedisClient client = RedisClient.create("redis://" + redis.host() + ":" + redis.port());
		RedisConnector connector = RedisConnector.to(client, "redis");
		connector.start(Duration.ofSeconds(10));
		try (Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());
				LeasedCounters counters = leased(RedisCounters.on(connector), deadlines)) {
			RateLimiter limiter = RateLimiterBuilder.on(counters).policies(ORDERS).options(PATIENT).build();
			assertThat(decide(limiter)).isEqualTo("allowed redis");
			assertThat(decide(limiter)).isEqualTo("allowed redis");
			assertThat(decide(limiter)).isEqualTo("refused redis");
			assertThat(decide(limiter)).isEqualTo("refused denied-cache");
		}
		finally {
			connector.close();
			client.shutdown();
		}
	}

	private static LeasedCounters leased(RedisCounters redis, Deadlines deadlines) {
		Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of());
		Counters guarded = RateLimiterBuilder.guarded(redis, nodes, deadlines, Duration.ofSeconds(1));
		return RateLimiterBuilder.leased(guarded, LeaseOptions.DEFAULTS, () -> 1,
				(counter) -> counter.spec().enforcement() == Enforcement.LEASED, (permits) -> {
				}, deadlines);
	}

	private static String decide(RateLimiter limiter) {
		Decision decision = limiter.check(REQUEST).toCompletableFuture().join();
		return (decision.allowed() ? "allowed " : "refused ") + decision.source().text();
	}

}
