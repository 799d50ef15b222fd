package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitStatus;
import dev.ratelimit.Policy;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.BreakerState;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.CallerState;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Counters in parts, on a cluster.
 */
@ExtendWith(RedisServers.class)
class SplitCountersIntegrationTests {

	private static final Limit PER_TENANT = Limit.of("per-tenant", List.of(Dimension.TENANT), "40/d").withSplit(4);

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.TENANT, Dimension.USER), "15/d");

	private static final Limit PER_IP = Limit.of("per-ip", List.of(Dimension.IP), "12/d");

	private static final Request ANN = Request.of("orders")
		.with(Dimension.TENANT, "acme")
		.with(Dimension.USER, "ann")
		.with(Dimension.IP, "10.0.0.1");

	private static final int IN_FLIGHT = 16;

	@ParameterizedTest
	@ValueSource(strings = { "acme", "globex", "initech", "umbrella" })
	void fourPartsAreOnFourSlotsAndOnAllNodes(String tenant, RedisCluster cluster) {
		Set<String> keys = parts(PER_TENANT, tenant).stream().map(Counter::key).collect(Collectors.toSet());
		assertThat(keys.stream().map(SlotHash::getSlot)).doesNotHaveDuplicates().hasSize(4);
		assertThat(keys.stream().map(cluster::primaryOf).distinct()).hasSize(3);
	}

	@ParameterizedTest
	@EnumSource
	void limitIsExactInEveryAlgorithm(Algorithm algorithm) {
		List<RateLimiter> fleet = fleet(3, Policy.of("orders", algorithm, PER_TENANT));
		assertThat(IntStream.range(0, 60).filter((i) -> check(fleet.get(i % 3), ANN).allowed())).hasSize(40);
	}

	/**
	 * Each instance begins with a part of its own choice. The node with two of the four
	 * parts gets 600 of 1,200 calls on average; with 240 instances 900 are 7 standard
	 * deviations away.
	 */
	@Test
	void checksOfOneCounterAreSharedByAllNodes(RedisCluster cluster) {
		List<RateLimiter> fleet = fleet(240, Policy.of("orders", Algorithm.GCRA,
				Limit.of("per-tenant", List.of(Dimension.TENANT), "100000/s").withSplit(4)));
		List<Long> before = cluster.primaries().stream().map((node) -> node.calls("evalsha")).toList();
		fleet.forEach((instance) -> IntStream.range(0, 5).forEach((i) -> check(instance, ANN)));
		List<RedisServer> nodes = cluster.primaries();
		for (int i = 0; i < nodes.size(); i++) {
			assertThat(nodes.get(i).calls("evalsha") - before.get(i)).isBetween(1L, 900L);
		}
	}

	/**
	 * Both sides of the error, over a time that the test lets pass: 4 instances that
	 * always have {@value #IN_FLIGHT} requests under way.
	 */
	@ParameterizedTest
	@EnumSource(names = { "STRICT", "LEASED" })
	void fleetFarAboveItsLimitGetsTheLimitAndNoMore(Enforcement enforcement) {
		long perSecond = 400;
		int seconds = 3;
		Policy policy = Policy.builder("orders")
			.enforcement(enforcement)
			.limit(Limit.of("per-tenant", List.of(Dimension.TENANT), perSecond + "/s").withSplit(4))
			.build();
		AtomicLong micros = new AtomicLong(1_700_000_000_000_000L);
		Counters counters = Connections.guarded(Connections.cluster().at(micros::get));
		List<RateLimiter> fleet = IntStream.range(0, 4)
			.<RateLimiter>mapToObj((i) -> limiter(policy, counters, 4, () -> micros.get() * 1_000))
			.toList();
		long admitted = 0;
		for (int step = 0; step <= 100 * seconds; step++) {
			List<CompletableFuture<Decision>> decisions = new ArrayList<>();
			for (int i = 0; i < IN_FLIGHT; i++) {
				fleet.forEach((instance) -> decisions.add(instance.check(ANN).toCompletableFuture()));
			}
			admitted += decisions.stream().mapToLong((decision) -> decision.join().granted()).sum();
			micros.addAndGet(10_000);
		}
		long limit = perSecond + perSecond * seconds;
		assertThat(admitted).isLessThanOrEqualTo(limit).isGreaterThanOrEqualTo(limit * 95 / 100);
	}

	@Test
	void refusalOnAnotherSlotTakesNothingOfAnyPart() {
		PolicyRateLimiter limiter = limiter(Policy.of("orders", Algorithm.GCRA, PER_TENANT, PER_IP));
		for (int i = 0; i < 12; i++) {
			assertThat(check(limiter, ANN).allowed()).isTrue();
		}
		for (int i = 0; i < 12; i++) {
			assertThat(check(limiter, ANN).refusedBy().limit()).isEqualTo(PER_IP);
		}
		assertThat(remaining(limiter, ANN)).containsExactly(28L, 0L);
	}

	@Test
	void refusalByAllPartsTakesNothingOnTheTenantsSlot() {
		PolicyRateLimiter limiter = limiter(Policy.of("orders", Algorithm.GCRA, PER_TENANT, PER_USER));
		for (int i = 0; i < 40; i++) {
			assertThat(check(limiter, ANN.with(Dimension.USER, "user" + i)).allowed()).isTrue();
		}
		Decision refused = check(limiter, ANN);
		assertThat(refused.refusedBy().limit()).isEqualTo(PER_TENANT);
		assertThat(refused.remaining()).isZero();
		assertThat(remaining(limiter, ANN)).containsExactly(0L, 15L);
	}

	@Test
	void usageAndResetSeeTheWhole() {
		PolicyRateLimiter limiter = limiter(Policy.of("orders", Algorithm.GCRA, PER_TENANT));
		for (int i = 0; i < 25; i++) {
			check(limiter, ANN);
		}
		assertThat(remaining(limiter, ANN)).containsExactly(15L);
		CallerState.reset(limiter, ANN).toCompletableFuture().join();
		assertThat(remaining(limiter, ANN)).containsExactly(40L);
		assertThat(IntStream.range(0, 60).filter((i) -> check(limiter, ANN).allowed())).hasSize(40);
	}

	@Test
	void refusedCallerCostsNothingOnceAllPartsHaveRefused() {
		PolicyRateLimiter limiter = limiter(Policy.of("orders", Algorithm.GCRA, PER_TENANT));
		for (int i = 0; i < 41; i++) {
			check(limiter, ANN);
		}
		Decision refused = check(limiter, ANN);
		assertThat(refused.source()).isEqualTo(Decision.Source.DENIED_CACHE);
		assertThat(refused.retryAfter()).isPositive().isLessThanOrEqualTo(Duration.ofDays(1).dividedBy(10));
	}

	@Test
	void partsOfASickNodeFollowTheFailureModeWhenTheOthersAreUsedUp(RedisCluster cluster) {
		List<Counter> parts = parts(PER_TENANT, "acme");
		RedisServer sick = cluster.primaryOf(parts.get(1).key());
		List<Counter> own = parts.stream().filter((part) -> cluster.primaryOf(part.key()) == sick).toList();
		try (ChaosProxy proxy = ChaosProxy.before(sick);
				Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());
				RedisConnector connector = DeadShardIntegrationTests.connector(cluster, proxy)) {
			Nodes nodes = new Nodes(new BreakerOptions(5, Duration.ofSeconds(10), 10, Duration.ofMinutes(1)),
					CircuitBreakerRegistry.ofDefaults(), List.of());
			Counters counters = new GuardedCounters(RedisCounters.on(connector), nodes, deadlines, Duration.ZERO);
			PolicyRateLimiter limiter = limiter(Policy.of("orders", Algorithm.GCRA, PER_TENANT), counters, 4,
					System::nanoTime);
			proxy.swallow();
			await().until(() -> {
				counters.acquire(own.subList(0, 1), Permits.exactly(1), Duration.ofMillis(20));
				return nodes.states().containsValue(BreakerState.OPEN);
			});
			for (int i = 0; i < 10 * (4 - own.size()); i++) {
				Decision decision = check(limiter, ANN);
				assertThat(decision.allowed()).isTrue();
				assertThat(decision.degraded()).isFalse();
			}
			Decision decision = check(limiter, ANN);
			assertThat(decision.mode()).isEqualTo(FailureMode.ALLOW);
			assertThat(decision.reason()).isEqualTo(Decision.Reason.BREAKER_OPEN);
		}
	}

	private static List<RateLimiter> fleet(int instances, Policy policy) {
		Counters counters = Connections.guarded(Connections.cluster());
		List<RateLimiter> fleet = new ArrayList<>();
		for (int i = 0; i < instances; i++) {
			fleet.add(limiter(policy, counters, instances, System::nanoTime));
		}
		return fleet;
	}

	private static PolicyRateLimiter limiter(Policy policy) {
		return limiter(policy, Connections.guarded(Connections.cluster()), 1, System::nanoTime);
	}

	private static PolicyRateLimiter limiter(Policy policy, Counters counters, int instances, LongSupplier nanos) {
		LeasedCounters leased = new LeasedCounters(counters, LeaseOptions.DEFAULTS, () -> instances, (counter) -> true,
				(permits) -> {
				}, nanos, FakeCounters.NEVER);
		PolicySet policies = PolicySet.of(policy);
		return RateLimiterBuilder.on(leased)
			.policies(() -> policies)
			.fallback(Fallback.to(new MemoryCounters(1_000, MemoryCounters::systemMicros)))
			.options(new LimiterOptions(Duration.ofSeconds(10), FailureMode.ALLOW, 64))
			.build();
	}

	private static List<Counter> parts(Limit limit, String tenant) {
		Counter whole = new Counter(new CounterSpec(Algorithm.GCRA, limit), new CounterKeys("rl"), "orders",
				List.of(tenant));
		return IntStream.range(0, limit.split()).mapToObj((part) -> whole.part(part, limit.split())).toList();
	}

	private static Decision check(RateLimiter limiter, Request request) {
		return limiter.check(request).toCompletableFuture().join();
	}

	private static List<Long> remaining(PolicyRateLimiter limiter, Request request) {
		return CallerState.peek(limiter, request)
			.toCompletableFuture()
			.join()
			.stream()
			.map(LimitStatus::remaining)
			.toList();
	}

}
