package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.BreakerState;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Policies whose deadline is shorter than the node's own, before a Redis that is slow and
 * before one that is dead.
 */
class ShortDeadlineIntegrationTests {

	private static final Limit PER_USER = Limit.of("per-user", List.of(Dimension.USER), "100000/d");

	private static final Duration SHORT = Duration.ofMillis(2);

	private static final Duration NODE = Duration.ofSeconds(10);

	private static final Duration ENDLESS = Duration.ofMinutes(1);

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final Nodes nodes = new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of());

	private final RedisServer redis = RedisServer.start();

	private final ChaosProxy proxy = ChaosProxy.before(this.redis);

	private final RedisClient client = RedisClient.create(Connections.resources(), this.proxy.uri());

	private final RedisConnector connector = RedisConnector.to(this.client, "redis");

	private final Counter counter = new Counter(new CounterSpec(Algorithm.GCRA, PER_USER),
			new CounterKeys("rl").key("orders", Algorithm.GCRA, PER_USER, List.of("ann")));

	@BeforeEach
	void connect() {
		this.client.setOptions(ClientSettings.options(ClientOptions.create()));
		assertThat(this.connector.start(Duration.ofSeconds(10))).isTrue();
	}

	@AfterEach
	void close() {
		this.connector.close();
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
		this.deadlines.close();
		this.proxy.close();
		this.redis.close();
	}

	@Test
	void redisThatIsOnlySlowerThanAPolicyWantsStaysInUse() {
		Counters counters = counters(NODE);
		assertThat(check(counters, NODE)).isNull();
		// Longer than a busy machine keeps the thread waiting that tells of deadlines.
		this.proxy.delayReplies(Duration.ofSeconds(1), Duration.ZERO);
		// A pause of the machine may be longer than the deadline of a check not yet sent.
		assertThat(checks(counters, 200)).contains(Decision.Reason.TIMEOUT)
			.isSubsetOf(Decision.Reason.TIMEOUT, Decision.Reason.SATURATED);
		assertThat(check(counters, NODE)).isNull();
		assertThat(this.nodes.states()).containsEntry("redis", BreakerState.CLOSED);
	}

	@Test
	void redisThatIsSilentIsGivenUpThoughAllPoliciesWaitForLess() {
		Counters counters = counters(Duration.ofMillis(20));
		assertThat(check(counters, NODE)).isNull();
		this.proxy.swallow();
		assertThat(checks(counters, 100)).contains(Decision.Reason.TIMEOUT);
		await().until(() -> this.nodes.states().get("redis") == BreakerState.OPEN);
	}

	@Test
	void onePauseOfABusyRedisDoesNotOpenTheBreaker() {
		Counters patient = counters(NODE);
		List<CompletableFuture<Grant>> answered = IntStream.range(0, 1_000)
			.mapToObj((i) -> ask(patient, NODE))
			.toList();
		assertThat(answered).extracting(ShortDeadlineIntegrationTests::reason).containsOnlyNulls();
		// Longer than a busy machine keeps the thread waiting that tells of deadlines.
		this.proxy.delayReplies(Duration.ofSeconds(1), Duration.ZERO);
		Counters counters = counters(Duration.ofMillis(20));
		List<CompletableFuture<Grant>> paused = IntStream.range(0, 40)
			.mapToObj((i) -> ask(counters, Duration.ofMillis(20)))
			.toList();
		assertThat(paused).extracting(ShortDeadlineIntegrationTests::reason)
			.containsOnly(Decision.Reason.TIMEOUT, Decision.Reason.SATURATED);
		this.proxy.heal();
		assertThat(this.nodes.states()).containsEntry("redis", BreakerState.CLOSED);
		assertThat(check(patient, NODE)).isNull();
	}

	/**
	 * Two calls are under way when the node pauses. All other checks wait for them and
	 * are never sent.
	 */
	@Test
	void checksThatWaitBehindAPauseAreSaturatedAndDoNotOpenTheBreaker() {
		Duration deadline = Duration.ofSeconds(1);
		Counters counters = counters(deadline);
		List<CompletableFuture<Grant>> before = IntStream.range(0, 256).mapToObj((i) -> ask(counters, NODE)).toList();
		assertThat(before).extracting(ShortDeadlineIntegrationTests::reason).containsOnlyNulls();
		this.proxy.delayReplies(Duration.ofSeconds(3), Duration.ZERO);
		List<CompletableFuture<Grant>> paused = IntStream.range(0, 256)
			.mapToObj((i) -> ask(counters, deadline))
			.toList();
		List<Decision.Reason> reasons = paused.stream().map(ShortDeadlineIntegrationTests::reason).toList();
		assertThat(reasons).filteredOn(Decision.Reason.TIMEOUT::equals).hasSize(2);
		assertThat(reasons).filteredOn(Decision.Reason.SATURATED::equals).hasSize(254);
		this.proxy.heal();
		assertThat(this.nodes.states()).containsEntry("redis", BreakerState.CLOSED);
		await().until(() -> check(counters, NODE) == null);
	}

	/**
	 * Each check is compared with a timer of the JDK that is set at the same moment, so
	 * that the machine's own pauses hit both.
	 */
	@ParameterizedTest
	@CsvSource({ "2, ALLOW", "2, DENY", "2, LOCAL", "5, ALLOW", "5, DENY", "5, LOCAL" })
	void policyIsAnsweredByItsFailureModeAtItsOwnDeadline(long millis, FailureMode mode) {
		Policy policy = Policy.builder("orders")
			.limit(PER_USER)
			.timeout(Duration.ofMillis(millis))
			.onFailure(mode)
			.build();
		PolicySet policies = PolicySet.of(policy);
		PolicyRateLimiter limiter = RateLimiterBuilder.on(counters(ENDLESS))
			.policies(() -> policies)
			.fallback(Fallback.to(new MemoryCounters(1_000, MemoryCounters::systemMicros)))
			.build();
		Request request = Request.of("orders").with(Dimension.USER, "ann");
		assertThat(check(counters(NODE), NODE)).isNull();
		this.proxy.swallow();
		List<Long> later = new ArrayList<>();
		for (int i = 0; i < 30; i++) {
			long start = System.nanoTime();
			CompletableFuture<Long> timer = CompletableFuture.supplyAsync(() -> System.nanoTime() - start,
					CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
			CompletableFuture<Long> answered = limiter.check(request).thenApply((decision) -> {
				assertThat(decision.mode()).isEqualTo(mode);
				assertThat(decision.allowed()).isEqualTo(mode != FailureMode.DENY);
				return System.nanoTime() - start;
			}).toCompletableFuture();
			assertThat(Duration.ofNanos(answered.join())).isLessThan(ENDLESS.dividedBy(6));
			later.add(answered.join() - timer.join());
		}
		later.sort(null);
		assertThat(Duration.ofNanos(later.get(later.size() / 2))).isLessThan(Duration.ofMillis(10));
	}

	private Counters counters(Duration nodeTimeout) {
		return new GuardedCounters(RedisCounters.on(this.connector), this.nodes, this.deadlines, nodeTimeout);
	}

	/** One after the other, so that each is sent. */
	private List<Decision.Reason> checks(Counters counters, int count) {
		List<Decision.Reason> reasons = new ArrayList<>();
		IntStream.range(0, count).forEach((i) -> reasons.add(check(counters, SHORT)));
		return reasons;
	}

	private Decision.Reason check(Counters counters, Duration timeout) {
		return reason(ask(counters, timeout));
	}

	private CompletableFuture<Grant> ask(Counters counters, Duration timeout) {
		return counters.acquire(List.of(this.counter), Permits.exactly(1), timeout).toCompletableFuture();
	}

	private static Decision.Reason reason(CompletableFuture<Grant> grant) {
		return grant.thenApply((granted) -> granted.complete() ? null : granted.gaps().get(0).cause().reason()).join();
	}

}
