package dev.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.guard.BreakerOptions;
import dev.ratelimit.guard.Deadlines;
import dev.ratelimit.guard.GuardedCounters;
import dev.ratelimit.guard.Nodes;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.testing.Pauses;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A load that is small enough for a busy machine, on leases of a Redis that is as late as
 * under full load: again and again it answers nobody for longer than a check may take,
 * but for less than a lease lasts. All times are five times as long as usual.
 */
@Tag("alone")
class LeaseRecoveryIntegrationTests {

	private static final int KEYS = 300;

	private static final int CHECKS_PER_SECOND = 10_000;

	private static final Duration DEADLINE = Duration.ofMillis(100);

	private static final LeaseOptions OPTIONS = new LeaseOptions(Duration.ofMillis(500), 20, Duration.ofSeconds(1),
			100_000);

	/** One call in six is sent when Redis will not answer within the deadline. */
	private static final Duration LATE = Duration.ofMillis(150);

	private static final Duration LATE_EVERY = Duration.ofMillis(300);

	private static final Duration OUTAGE = Duration.ofSeconds(4);

	/** Leases last for one of these seconds, also behind a breaker that is open. */
	private static final Duration LOOKED_AT = Duration.ofSeconds(2);

	private static final int LAST = CHECKS_PER_SECOND * (int) LOOKED_AT.toSeconds();

	/** The promise, and the time that is looked at. */
	private static final Duration MOST = Duration.ofSeconds(5).plus(LOOKED_AT);

	private static final long TICK = 10_000_000;

	private final RedisServer redis = RedisServer.start();

	private final RedisClient client = RedisClient.create(Connections.resources(), this.redis.uri());

	private final Deadlines deadlines = new Deadlines(ForkJoinPool.commonPool());

	private final List<Counter> keys = keys();

	/** Whether each of the last checks was decided by the limits, in a ring. */
	private final AtomicIntegerArray answers = new AtomicIntegerArray(LAST);

	private final AtomicLong answered = new AtomicLong();

	private volatile boolean ended;

	private LeasedCounters counters;

	private Thread load;

	private Thread lateness;

	@AfterEach
	void close() throws InterruptedException {
		this.ended = true;
		if (this.load != null) {
			this.load.join();
			this.redis.thaw();
			this.lateness.join();
		}
		this.client.shutdown();
		this.redis.close();
		this.deadlines.close();
	}

	@Test
	void limitsAreEnforcedFiveSecondsAfterAStartAndAfterRedisStoodStill() {
		// Begins to watch.
		Pauses.now();
		this.client.setOptions(ClientSettings.options(ClientOptions.create()));
		RedisConnector connector = RedisConnector.to(this.client, "redis");
		assertThat(connector.start(Duration.ofSeconds(10))).isTrue();
		this.counters = new LeasedCounters(new GuardedCounters(RedisCounters.on(connector),
				new Nodes(BreakerOptions.DEFAULTS, CircuitBreakerRegistry.ofDefaults(), List.of()), this.deadlines,
				DEADLINE), OPTIONS, () -> 1, (counter) -> true, (permits) -> {
				}, System::nanoTime, this.deadlines);
		this.load = new Thread(this::send, "load");
		this.load.setDaemon(true);
		this.load.start();
		this.lateness = new Thread(this::beLate, "lateness");
		this.lateness.setDaemon(true);
		this.lateness.start();
		Duration start = Within.of(MOST).until(this::enforced);
		this.redis.freeze();
		long frozen = Pauses.now();
		await("leases that have run out").atMost(Duration.ofMinutes(1)).until(() -> !enforced());
		LockSupport.parkNanos(OUTAGE.toNanos() - (Pauses.now() - frozen));
		this.redis.thaw();
		Duration back = Within.of(MOST).until(this::enforced);
		System.out.printf("%n99 %% of %,d checks/s enforced %d ms after the start, %d ms after the return of Redis%n",
				CHECKS_PER_SECOND, start.toMillis(), back.toMillis());
		connector.close();
	}

	private boolean enforced() {
		return this.answered.get() >= LAST && IntStream.range(0, LAST).map(this.answers::get).sum() >= LAST * 99L / 100;
	}

	private void send() {
		double owed = 0;
		int key = 0;
		long last = System.nanoTime();
		while (!this.ended) {
			long now = System.nanoTime();
			owed += CHECKS_PER_SECOND / 1e9 * (now - last);
			last = now;
			for (; owed >= 1; owed--) {
				this.counters.acquire(List.of(this.keys.get(key)), Permits.exactly(1), null, DEADLINE,
						(grant) -> this.answers.set((int) (this.answered.getAndIncrement() % LAST),
								grant.complete() ? 1 : 0));
				key = (key + 1) % KEYS;
			}
			LockSupport.parkNanos(TICK - (System.nanoTime() - now));
		}
	}

	private void beLate() {
		try (StatefulRedisConnection<String, String> connection = this.client.connect()) {
			while (!this.ended) {
				connection.async().clientPause(LATE.toMillis());
				LockSupport.parkNanos(LATE_EVERY.toNanos());
			}
		}
	}

	private static List<Counter> keys() {
		CounterSpec spec = new CounterSpec(Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), "60000000/m"),
				Enforcement.LEASED, new LiveWindows());
		return IntStream.range(0, KEYS).mapToObj((i) -> new Counter(spec, "recovery-" + i)).toList();
	}

}
