package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Idempotency;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisServer;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests that are sent again because Redis was slow, or while its values are foreign.
 */
class IdempotencyFaultsIntegrationTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private static final Request ANN = Request.of("payments").with(Dimension.USER, "ann").withIdempotencyKey("a");

	private final RedisServer redis = RedisServer.start();

	private final ChaosProxy proxy = ChaosProxy.before(this.redis);

	private final RedisClient client = RedisClient.create(Connections.resources(), this.proxy.uri());

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private RedisConnector connector;

	@BeforeEach
	void connect() {
		this.client.setOptions(ClientSettings.options(ClientOptions.create()));
		this.connector = RedisConnector.to(this.client, "redis");
		assertThat(this.connector.start(LONG)).isTrue();
	}

	@AfterEach
	void close() {
		this.deadlines.close();
		this.connector.close();
		this.client.shutdown();
		this.proxy.close();
		this.redis.close();
	}

	@ParameterizedTest
	@EnumSource
	void retryAfterALostAnswerIsNotCountedAgain(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(algorithm, FailureMode.ALLOW, Duration.ofMillis(200));
		PolicyRateLimiter patient = limiter(algorithm, FailureMode.ALLOW, LONG);
		join(patient.check(ANN.withIdempotencyKey("first")));
		this.proxy.delayReplies(Duration.ofMinutes(10), Duration.ZERO);
		assertThat(join(limiter.check(ANN)).degraded()).isTrue();
		await().atMost(LONG).until(() -> records() == 2);
		this.proxy.heal();
		this.proxy.cut();
		Decision retry = answered(patient);
		assertThat(retry.replay()).isTrue();
		assertThat(retry.remaining()).isEqualTo(8);
	}

	@ParameterizedTest
	@EnumSource
	void grantThatComesTooLateForARefusedRequestIsReleased(Algorithm algorithm) {
		PolicyRateLimiter limiter = limiter(algorithm, FailureMode.DENY, Duration.ofMillis(200));
		PolicyRateLimiter patient = limiter(algorithm, FailureMode.DENY, LONG);
		join(patient.check(ANN.withIdempotencyKey("first")));
		this.proxy.delayReplies(Duration.ofSeconds(1), Duration.ZERO);
		assertThat(join(limiter.check(ANN)).allowed()).isFalse();
		await().atMost(LONG).until(() -> records() == 2);
		await().atMost(LONG).until(() -> records() == 1);
		this.proxy.heal();
		Decision retry = answered(patient);
		assertThat(retry.replay()).isFalse();
		assertThat(retry.remaining()).isEqualTo(8);
	}

	@Test
	void foreignValueInPlaceOfARecordCountsAsNone() {
		PolicyRateLimiter limiter = limiter(Algorithm.GCRA, FailureMode.DENY, LONG);
		join(limiter.check(ANN));
		String record = record();
		this.redis.cli("SET", record, "foreign");
		assertThat(join(limiter.check(ANN)).replay()).isFalse();
		assertThat(join(limiter.check(ANN)).replay()).isTrue();
		this.redis.cli("DEL", record);
		this.redis.cli("RPUSH", record, "foreign");
		Decision anew = join(limiter.check(ANN));
		assertThat(anew.replay()).isFalse();
		assertThat(anew.remaining()).isEqualTo(7);
	}

	@Test
	void foreignCounterIsNeitherGrantedNorRecorded() {
		PolicyRateLimiter limiter = limiter(Algorithm.GCRA, FailureMode.DENY, LONG);
		join(limiter.check(ANN));
		String before = this.redis.cli("GET", record());
		String counter = this.redis.cli("KEYS", "rl:3g:*").strip();
		this.redis.cli("SET", counter, "foreign");
		assertThat(join(limiter.check(ANN)).allowed()).isFalse();
		assertThat(this.redis.cli("GET", record())).isEqualTo(before);
	}

	@Test
	void recordExpiresWithItsTtl() {
		PolicyRateLimiter limiter = limiter(Algorithm.GCRA, FailureMode.DENY, LONG);
		join(limiter.check(ANN));
		join(limiter.check(ANN));
		assertThat(Long.parseLong(this.redis.cli("PTTL", record()).strip())).isBetween(1L, 600_000L);
		assertThat(this.redis.cli("STRLEN", record()).strip()).isEqualTo("14");
	}

	/** The docs name the number. */
	@Test
	void recordTakesFewBytes() {
		PolicyRateLimiter limiter = limiter(Algorithm.GCRA, FailureMode.DENY, LONG);
		join(limiter.check(ANN));
		assertThat(Long.parseLong(this.redis.cli("MEMORY", "USAGE", record()).strip())).isLessThanOrEqualTo(104);
	}

	@Test
	void policyWithoutIdempotencyLeavesNoRecord() {
		PolicySet policies = PolicySet
			.of(Policy.builder("payments").limit("per-user", List.of(Dimension.USER), "10/30d").build());
		join(limiter(policies, LONG).check(ANN));
		assertThat(records()).isZero();
	}

	/** A connection that was cut is made anew in the background. */
	private static Decision answered(PolicyRateLimiter limiter) {
		CompletableFuture<Decision> answered = new CompletableFuture<>();
		await().atMost(LONG).until(() -> {
			Decision decision = join(limiter.check(ANN));
			return !decision.degraded() && answered.complete(decision);
		});
		return answered.join();
	}

	private long records() {
		return this.redis.cli("KEYS", "rl:3i:*").lines().filter((line) -> !line.isBlank()).count();
	}

	private String record() {
		return this.redis.cli("KEYS", "rl:3i:*").strip();
	}

	private PolicyRateLimiter limiter(Algorithm algorithm, FailureMode mode, Duration timeout) {
		return limiter(PolicySet.of(Policy.builder("payments")
			.algorithm(algorithm)
			.limit("per-user", List.of(Dimension.USER), "10/30d")
			.onFailure(mode)
			.idempotency(new Idempotency("X-Request-Id", Duration.ofMinutes(10), 3))
			.build()), timeout);
	}

	private PolicyRateLimiter limiter(PolicySet policies, Duration timeout) {
		GuardedCounters counters = new GuardedCounters(RedisCounters.on(this.connector),
				new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of()), this.deadlines,
				timeout);
		return RateLimiterBuilder.on(counters)
			.policies(() -> policies)
			.fallback(Fallback.to(new MemoryCounters(100, MemoryCounters::systemMicros)))
			.options(new LimiterOptions(timeout, FailureMode.ALLOW, 64))
			.build();
	}

}
