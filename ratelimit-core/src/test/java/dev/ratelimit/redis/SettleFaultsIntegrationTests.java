package dev.ratelimit.redis;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
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
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.Settlement;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Corrected;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.testing.ChaosProxy;
import dev.ratelimit.testing.RedisServer;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Settles while Redis is away, paused or loses answers.
 */
class SettleFaultsIntegrationTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final RedisServer redis = RedisServer.start();

	private final ChaosProxy proxy = ChaosProxy.before(this.redis);

	private final RedisClient client = RedisClient.create(Connections.resources(), this.proxy.uri());

	private RedisConnector connector;

	private RedisCounters counters;

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	@BeforeEach
	void connect() {
		this.client.setOptions(ClientSettings.options(ClientOptions.create()));
		this.connector = RedisConnector.to(this.client, "redis");
		this.connector.start(LONG);
		this.counters = RedisCounters.on(this.connector);
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
	void sameSettleActsOnce(Algorithm algorithm) {
		Counter counter = counter(algorithm);
		Correction refund = correction(take(400, counter), -300, 0);
		assertThat(attempt(refund, last(refund)).outcome()).isEqualTo(Settlement.REFUNDED);
		assertThat(attempt(refund, last(refund)).outcome()).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(counter)).isEqualTo(900);
		Correction charge = correction(take(100, counter), 50, 0);
		assertThat(attempt(charge, last(charge)).outcome()).isEqualTo(Settlement.SETTLED);
		assertThat(attempt(charge, last(charge)).outcome()).isEqualTo(Settlement.NOTHING);
		assertThat(remaining(counter)).isEqualTo(750);
	}

	@ParameterizedTest
	@EnumSource
	void attemptAfterItsLastTimeDoesNothing(Algorithm algorithm) {
		Counter counter = counter(algorithm);
		Correction refund = correction(take(400, counter), -300, 0);
		Corrected late = attempt(refund, refund.grant().readings().get(0).time() - 1);
		assertThat(late.outcome()).isNull();
		assertThat(late.time()).isGreaterThanOrEqualTo(refund.grant().readings().get(0).time());
		assertThat(remaining(counter)).isEqualTo(600);
		assertThat(this.redis.cli("EXISTS", refund.marker())).contains("0");
	}

	@Test
	void markerLivesForAMinuteAfterTheLastSettleMayBegin() {
		Grant grant = take(400, counter(Algorithm.GCRA));
		Correction own = correction(grant, -300, 0);
		attempt(own, last(own));
		assertThat(ttlSeconds(own)).isBetween(30L, 60L);
		Correction shared = new Correction("shared", grant, -10, System.nanoTime(),
				grant.readings().get(0).time() + Duration.ofMinutes(10).toNanos() / 1_000);
		attempt(shared, last(shared));
		assertThat(ttlSeconds(shared)).isBetween(630L, 661L);
	}

	@ParameterizedTest
	@EnumSource
	void answerThatIsLostDoesNotSettleTwice(Algorithm algorithm) {
		Counter counter = counter(algorithm);
		Correction charge = correction(take(400, counter), 100, 0);
		// Redis knows the script before answers get lost.
		Correction nothing = correction(charge.grant(), 0, 0);
		attempt(nothing, last(nothing));
		this.proxy.delayReplies(Duration.ofMinutes(10), Duration.ZERO);
		CompletableFuture<Settlement> outcome = settle(charge);
		await().atMost(LONG).until(() -> this.redis.cli("EXISTS", charge.marker()).contains("1"));
		assertThat(outcome).isNotDone();
		this.proxy.heal();
		this.proxy.cut();
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.SETTLED);
		assertThat(remaining(counter)).isEqualTo(500);
	}

	@Test
	void settleWaitsForARedisThatIsAway() {
		Counter counter = counter(Algorithm.GCRA);
		Correction refund = correction(take(400, counter), -300, 0);
		this.proxy.refuse();
		CompletableFuture<Settlement> outcome = settle(refund);
		this.proxy.heal();
		assertThat(outcome).succeedsWithin(LONG).isEqualTo(Settlement.REFUNDED);
		await().atMost(LONG).untilAsserted(() -> assertThat(remaining(counter)).isEqualTo(900));
	}

	@Test
	void redisThatLostItsCountersHasFullOnesAfterARefundAndChargesThem() {
		Counter counter = counter(Algorithm.GCRA);
		Correction refund = correction(take(400, counter), -300, 0);
		Correction charge = new Correction("charge", refund.grant(), 100, System.nanoTime(), 0);
		this.redis.restart();
		assertThat(settle(refund)).succeedsWithin(LONG).isEqualTo(Settlement.REFUNDED);
		assertThat(settle(charge)).succeedsWithin(LONG).isEqualTo(Settlement.SETTLED);
		await().atMost(LONG).untilAsserted(() -> assertThat(remaining(counter)).isEqualTo(900));
	}

	@ParameterizedTest
	@EnumSource
	void settleOfACounterWithAForeignValueIsLost(Algorithm algorithm) {
		Counter counter = counter(algorithm);
		Correction refund = correction(take(400, counter), -300, 0);
		this.redis.cli("SET", counter.key(), "foreign");
		assertThat(settle(refund)).succeedsWithin(LONG).isEqualTo(Settlement.LOST);
		assertThat(this.redis.cli("GET", counter.key()).trim()).isEqualTo("foreign");
	}

	@Test
	void estimateStandsIfNobodySettles() {
		Counter counter = counter(Algorithm.GCRA);
		take(400, counter);
		assertThat(remaining(counter)).isEqualTo(600);
		assertThat(this.redis.cli("KEYS", "rl:3s:*").trim()).isEmpty();
	}

	@Test
	void estimateStandsIfTheProcessIsKilledBeforeItSettles() throws Exception {
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), Reservation.class.getName(), this.redis.uri().toURI().toString())
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
		try (BufferedReader output = process.inputReader()) {
			assertThat(output.lines().filter(Reservation.DONE::equals).findFirst()).isPresent();
		}
		finally {
			process.destroyForcibly().waitFor();
		}
		assertThat(remaining(counter(Algorithm.GCRA))).isEqualTo(600);
		assertThat(this.redis.cli("KEYS", "rl:3s:*").trim()).isEmpty();
	}

	/** Another process, which takes an estimate and then waits. */
	static final class Reservation {

		static final String DONE = "reserved";

		private Reservation() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			RedisConnector connector = RedisConnector.to(RedisClient.create(arguments[0]), "redis");
			connector.start(LONG);
			join(RedisCounters.on(connector).acquire(List.of(counter(Algorithm.GCRA)), Permits.exactly(400)));
			System.out.println(DONE);
			new CountDownLatch(1).await();
		}

	}

	private CompletableFuture<Settlement> settle(Correction correction) {
		GuardedCounters guarded = new GuardedCounters(this.counters,
				new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of()), this.deadlines,
				Duration.ZERO);
		return guarded.settle(correction).toCompletableFuture();
	}

	private Corrected attempt(Correction correction, long last) {
		return join(this.counters.settle(correction, last));
	}

	private static long last(Correction correction) {
		return correction.storeTime(System.nanoTime()) + Duration.ofMinutes(1).toNanos() / 1_000;
	}

	private static Correction correction(Grant grant, long permits, long until) {
		return new Correction("id" + permits, grant, permits, System.nanoTime(), until);
	}

	private long ttlSeconds(Correction correction) {
		return Long.parseLong(this.redis.cli("PTTL", correction.marker()).trim()) / 1_000;
	}

	private Grant take(long cost, Counter counter) {
		return join(this.counters.acquire(List.of(counter), Permits.exactly(cost), LONG));
	}

	private long remaining(Counter counter) {
		Grant grant = join(this.counters.acquire(List.of(counter), Permits.NONE, LONG));
		assertThat(grant.complete()).isTrue();
		return grant.statuses().get(0).remaining();
	}

	private static Counter counter(Algorithm algorithm) {
		Limit limit = Limit.of("per-user", List.of(Dimension.USER), "1000/30d");
		return new Counter(new CounterSpec(algorithm, limit, Enforcement.STRICT, new LiveWindows(), true),
				new CounterKeys("rl"), "settle", List.of("ann"));
	}

}
