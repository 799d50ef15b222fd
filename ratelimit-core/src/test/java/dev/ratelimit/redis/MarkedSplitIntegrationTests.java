package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.caller.SealedHashes;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotMark;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.CallerState;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.split.AutoSplit;
import dev.ratelimit.split.HotSplits;
import dev.ratelimit.split.MarkedSplits;
import dev.ratelimit.testing.RedisCluster;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counters that are split and joined while they are in use, by a fleet on a cluster.
 */
@ExtendWith(RedisServers.class)
class MarkedSplitIntegrationTests {

	private static final int THRESHOLD = 400;

	private static final int PARTS = 4;

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	private static final SealedHashes HASHES = new SealedHashes(Salt.of("salt of the tests"));

	private static RedisClusterClient client;

	private final List<Instance> fleet = new ArrayList<>();

	private Counters counters;

	@BeforeAll
	static void open() {
		client = RedisClusterClient.create(RedisServers.cluster().uris());
		client.setOptions(ClientSettings.clusterOptions(ClientOptions.create()));
	}

	@AfterAll
	static void shutDown() {
		client.shutdownAsync();
	}

	@BeforeEach
	void empty() {
		this.counters = Connections.guarded(Connections.cluster());
	}

	@AfterEach
	void end() {
		this.fleet.forEach(Instance::close);
	}

	@Test
	void markedCounterIsOnAllNodesWithinThreeSecondsAndWholeAgainWithoutTheMark(RedisCluster cluster) {
		start(4, "100000/d", false);
		mark(PARTS);
		within(3).until(() -> this.fleet.stream().allMatch((instance) -> instance.parts() == PARTS));
		Counter whole = this.fleet.get(0).counter();
		Set<String> keys = IntStream.range(0, PARTS)
			.mapToObj((part) -> whole.part(part, PARTS).key())
			.collect(Collectors.toSet());
		// Each begins with a part that it chooses at random: 104 of them miss none.
		Request expensive = ACME.withCost(100);
		long used = 0;
		for (int i = 0; i < 25 && !keys.stream().allMatch((key) -> exists(cluster, key)); i++) {
			start(4, "100000/d", false);
			within(3).until(() -> this.fleet.stream().allMatch((instance) -> instance.parts() == PARTS));
			used += 100 * this.fleet.stream().filter((instance) -> instance.check(expensive)).count();
		}
		assertThat(keys).allMatch((key) -> exists(cluster, key));
		assertThat(keys.stream().map(cluster::primaryOf).distinct()).hasSize(3);
		long left = 100_000 - used;
		this.fleet.get(1).unmark();
		within(3).until(() -> this.fleet.stream().allMatch((instance) -> instance.parts() == 1));
		// The first part is the whole counter's key. What it was used more than its share
		// stays
		// used, at most four times all. A permit comes back in 0.9 s.
		assertThat(remaining()).isBetween(100_000 - PARTS * (used + 1), left + 500);
	}

	@Test
	void callerThatHasUsedUpItsQuotaIsNotLetPassByASplitNorByItsEnd() {
		start(3, "400/d", false);
		for (int i = 0; i < 400; i++) {
			assertThat(this.fleet.get(i % 3).check()).isTrue();
		}
		mark(PARTS);
		within(3).until(() -> {
			assertThat(this.fleet).noneMatch(Instance::check);
			return this.fleet.stream().allMatch((instance) -> instance.parts() == PARTS);
		});
		assertThat(this.fleet).noneMatch(Instance::check);
		assertThat(remaining()).isZero();
		this.fleet.get(1).unmark();
		within(3).until(() -> {
			assertThat(this.fleet).noneMatch(Instance::check);
			return this.fleet.stream().allMatch((instance) -> instance.parts() == 1);
		});
		assertThat(this.fleet).noneMatch(Instance::check);
	}

	@Test
	void whatIsLeftIsAdmittedAfterTheSplitAndNoMore() {
		start(3, "400/d", false);
		for (int i = 0; i < 200; i++) {
			this.fleet.get(i % 3).check();
		}
		mark(PARTS);
		within(3).until(() -> this.fleet.stream().allMatch((instance) -> instance.parts() == PARTS));
		assertThat(IntStream.range(0, 400).filter((i) -> this.fleet.get(i % 3).check()).count()).isBetween(192L, 201L);
	}

	@Test
	void resetForgetsAllParts() {
		start(2, "400/d", false);
		mark(PARTS);
		within(3).until(() -> this.fleet.stream().allMatch((instance) -> instance.parts() == PARTS));
		IntStream.range(0, 400).forEach((i) -> this.fleet.get(i % 2).check());
		assertThat(remaining()).isZero();
		CallerState.reset(this.fleet.get(0).limiter, ACME).toCompletableFuture().join();
		assertThat(remaining()).isEqualTo(400);
	}

	@Test
	void hotCounterIsSplitByOneInstanceForAllAndItsRateIsTheSumOfItsParts() {
		start(3, "1000000/s", true);
		this.fleet.forEach((instance) -> instance.load(THRESHOLD / 2));
		within(8).until(() -> this.fleet.stream().allMatch((instance) -> instance.parts() >= 2));
		within(5).until(() -> this.fleet.get(0).hot.maxRate() > THRESHOLD);
		// The number of parts grows with the traffic, and instances learn it one by one.
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.fleet.get(0).hot.top()).singleElement().satisfies((hot) -> {
				assertThat(hot.name()).isEqualTo(CounterName.of(this.fleet.get(0).counter()));
				assertThat(hot.mark().actor()).isEqualTo(AutoSplit.ACTOR);
				assertThat(hot.mark().split()).isEqualTo(this.fleet.get(1).parts());
			}));
	}

	@Test
	void counterThatCoolsDownIsJoinedAgain() {
		start(2, "1000000/s", true);
		this.fleet.forEach((instance) -> instance.load(THRESHOLD));
		within(8).until(() -> this.fleet.stream().allMatch((instance) -> instance.parts() >= 2));
		this.fleet.forEach((instance) -> instance.load(THRESHOLD / 20));
		within(25).until(() -> this.fleet.stream().allMatch((instance) -> instance.parts() == 1));
	}

	private static boolean exists(RedisCluster cluster, String key) {
		return cluster.primaryOf(key).cli("EXISTS", key).equals("1");
	}

	private void mark(int split) {
		Instance instance = this.fleet.get(0);
		HotMark mark = new HotMark(CounterName.of(instance.counter()), Duration.ofHours(1), "ann", "", split);
		assertThat(instance.splits.mark(mark, instance.counter()).toCompletableFuture().join()).isTrue();
	}

	private long remaining() {
		return CallerState.peek(this.fleet.get(0).limiter, ACME).toCompletableFuture().join().get(0).remaining();
	}

	private void start(int instances, String quota, boolean automatic) {
		Policy policy = Policy.of("orders", Algorithm.GCRA, Limit.of("per-tenant", List.of(Dimension.TENANT), quota));
		for (int i = 0; i < instances; i++) {
			this.fleet.add(new Instance(policy, this.counters, automatic));
		}
	}

	private static Within within(int seconds) {
		return Within.seconds(seconds);
	}

	/** What an instance of an application has of it, and its callers. */
	private static final class Instance {

		final HotCounters hot = new HotCounters(THRESHOLD, 100, () -> 1, System::nanoTime);

		final MarkedSplits marked = new MarkedSplits(this.hot);

		final RedisConnector connector = RedisConnector.to(client);

		final HotExchange exchange;

		final HotSplits splits;

		final PolicyRateLimiter limiter;

		private volatile int perSecond;

		private volatile boolean closed;

		Instance(Policy policy, Counters counters, boolean automatic) {
			this.connector.start(Duration.ofSeconds(10));
			this.exchange = new HotExchange(this.hot, new TopRefusals(System::nanoTime),
					new RedisHotKeys(this.connector, "rl", "local", HASHES), 100, System::nanoTime);
			LeasedCounters leased = new LeasedCounters(counters, LeaseOptions.DEFAULTS, () -> 1, this.hot,
					(permits) -> {
					}, System::nanoTime, Connections.DEADLINES);
			this.splits = new HotSplits(this.marked, this.exchange, leased);
			if (automatic) {
				this.exchange.listen(new AutoSplit(this.hot, this.exchange, this.splits, THRESHOLD, (id) -> 1)::review);
			}
			PolicySet policies = PolicySet.of(policy);
			this.limiter = RateLimiterBuilder.on(leased)
				.policies(() -> policies)
				.splitting(this.marked)
				.fallback(Fallback.to(new MemoryCounters(1_000, MemoryCounters::systemMicros)))
				.options(new LimiterOptions(Duration.ofSeconds(10), FailureMode.ALLOW, 64))
				.build();
			this.exchange.start();
		}

		Counter counter() {
			return this.limiter.usage().counters(ACME, "per-tenant").get(0);
		}

		int parts() {
			return this.marked.parts(counter());
		}

		boolean check() {
			return check(ACME);
		}

		boolean check(Request request) {
			return this.limiter.check(request).toCompletableFuture().join().allowed();
		}

		void unmark() {
			this.splits.unmark(counter().key(), counter()).toCompletableFuture().join();
		}

		void load(int perSecond) {
			if (this.perSecond == 0) {
				Thread callers = new Thread(this::run);
				callers.setDaemon(true);
				callers.start();
			}
			this.perSecond = perSecond;
		}

		private void run() {
			double due = 0;
			long last = System.nanoTime();
			while (!this.closed) {
				long now = System.nanoTime();
				due += (now - last) / 1e9 * this.perSecond;
				last = now;
				for (; due >= 1; due--) {
					this.limiter.check(ACME);
				}
				LockSupport.parkNanos(2_000_000);
			}
		}

		void close() {
			this.closed = true;
			this.exchange.close();
			this.connector.close();
		}

	}

}
