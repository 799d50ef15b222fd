package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.caller.Salt;
import dev.ratelimit.caller.SealedHashes;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.hot.CounterName;
import dev.ratelimit.hot.HotCounter;
import dev.ratelimit.hot.HotCounters;
import dev.ratelimit.hot.HotExchange;
import dev.ratelimit.hot.HotMark;
import dev.ratelimit.hot.HotStore;
import dev.ratelimit.hot.RefusedKey;
import dev.ratelimit.hot.TopRefusals;
import dev.ratelimit.testing.RedisServer;
import dev.ratelimit.testing.RedisServers;
import dev.ratelimit.testing.Within;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What holds for the hot keys of a fleet on one Redis and on a cluster. Unless a test
 * says otherwise, instances take themselves for the only one, so that none sees enough by
 * itself.
 */
@ExtendWith(RedisServers.class)
abstract class HotKeysContract {

	static final String MARKS = "rl:{fleet}:hot:marks";

	private static final int THRESHOLD = 1_000;

	private static final CounterSpec SPEC = new CounterSpec(Algorithm.GCRA,
			Limit.of("per-tenant", List.of(Dimension.TENANT), "1000000/s"), Enforcement.ADAPTIVE, new LiveWindows());

	private static final SealedHashes HASHES = new SealedHashes(Salt.of("salt of the tests"));

	private final List<Instance> fleet = new ArrayList<>();

	/** A connection of its own, not made yet. */
	abstract RedisConnector connector();

	/** The server that holds the keys. */
	abstract RedisServer server();

	@AfterEach
	void end() {
		this.fleet.forEach(Instance::close);
	}

	@Test
	void fleetPromotesWithinThreeSecondsWhatNoInstanceSeesEnoughOf() {
		start(3);
		this.fleet.forEach((instance) -> instance.load("acme", THRESHOLD / 2));
		within(3).until(() -> this.fleet.stream().allMatch((instance) -> instance.isHot("acme")));
		HotCounter first = this.fleet.get(0).counters.top().get(0);
		assertThat(first.name()).isEqualTo(CounterName.of(counter("acme")));
		assertThat(first.hot()).isTrue();
		assertThat(first.mark()).isNull();
		// The fleet counts anew each second. After a pause, what was due comes at once.
		await().untilAsserted(() -> {
			long rate = this.fleet.get(0).counters.top().get(0).perSecond();
			assertThat(rate).isBetween((long) THRESHOLD, 2L * THRESHOLD);
			assertThat(this.fleet.get(0).counters.maxRate()).isEqualTo(rate);
		});
	}

	@Test
	void whatIsBelowTheThresholdIsListedAndNotHot() {
		start(2);
		this.fleet.forEach((instance) -> instance.load("acme", THRESHOLD / 5));
		within(5).until(() -> this.fleet.get(0).counters.maxRate() > THRESHOLD / 5);
		assertThat(this.fleet.get(0).counters.top()).allMatch((counter) -> !counter.hot());
		assertThat(this.fleet).noneMatch((instance) -> instance.isHot("acme"));
	}

	@Test
	void instanceThatSeesAlmostNothingOfAHotCounterKnowsItToo() {
		start(3);
		this.fleet.get(0).load("acme", 2 * THRESHOLD / 3);
		this.fleet.get(1).load("acme", 2 * THRESHOLD / 3);
		within(3).until(() -> this.fleet.get(2).isHot("acme"));
	}

	@Test
	void fleetThatCoolsDownGoesBack() {
		start(3);
		this.fleet.forEach((instance) -> instance.load("acme", THRESHOLD / 2));
		within(5).until(() -> this.fleet.stream().allMatch((instance) -> instance.isHot("acme")));
		this.fleet.forEach((instance) -> instance.load("acme", THRESHOLD / 10));
		within(6).until(() -> this.fleet.stream().noneMatch((instance) -> instance.isHot("acme")));
	}

	/**
	 * Of 1.25 checks in a quarter of a second, as 2,000 instances and a threshold of
	 * 10,000 have it, none can tell by itself. {@code HotFleetTests} has the times.
	 */
	@Test
	void whatEachInstanceSeesAFewChecksOfIsHotByTheSumAlone() {
		int instances = 16;
		int threshold = 5 * instances;
		for (int i = 0; i < instances; i++) {
			this.fleet.add(new Instance(connector(), threshold, instances));
		}
		HotCounters first = this.fleet.get(0).counters;
		this.fleet.forEach((instance) -> instance.load("acme", 2));
		within(10).until(() -> first.maxRate() > threshold / 5);
		long since = System.nanoTime();
		within(10).until(() -> {
			assertThat(this.fleet).allMatch((instance) -> instance.counters.size() == 0);
			return System.nanoTime() - since > 3_000_000_000L;
		});
		this.fleet.forEach((instance) -> instance.load("acme", 8));
		within(10).until(() -> this.fleet.stream().allMatch((instance) -> instance.counters.size() == 1));
		this.fleet.forEach((instance) -> instance.load("acme", 2));
		within(10).until(() -> this.fleet.stream().allMatch((instance) -> instance.counters.size() == 0));
	}

	@Test
	void markIsKnownToAllWithinTwoSecondsAndSoIsItsEnd() {
		start(2);
		HotMark mark = new HotMark(CounterName.of(counter("acme")), Duration.ofHours(1), "ann", "launch day");
		assertThat(this.fleet.get(0).exchange.mark(mark).toCompletableFuture().join()).isTrue();
		within(2).until(() -> this.fleet.stream().allMatch((instance) -> instance.isHot("acme")));
		assertThat(this.fleet.get(1).isHot("globex")).isFalse();
		assertThat(this.fleet.get(1).counters.top()).singleElement().satisfies((counter) -> {
			assertThat(counter.hot()).isTrue();
			assertThat(counter.mark().actor()).isEqualTo("ann");
			assertThat(counter.mark().reason()).isEqualTo("launch day");
			assertThat(counter.mark().left()).isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
		});
		this.fleet.get(1).exchange.unmark(mark.name().key()).toCompletableFuture().join();
		within(5).until(() -> this.fleet.stream().noneMatch((instance) -> instance.isHot("acme")));
	}

	@Test
	void markEndsByItself() {
		start(1);
		HotMark mark = new HotMark(CounterName.of(counter("acme")), Duration.ofSeconds(3), "ann", "");
		this.fleet.get(0).exchange.mark(mark).toCompletableFuture().join();
		within(2).until(() -> this.fleet.get(0).isHot("acme"));
		within(6).until(() -> !this.fleet.get(0).isHot("acme"));
		assertThat(server().cli("EXISTS", MARKS)).isEqualTo("0");
	}

	@Test
	void numberOfMarksIsBounded() {
		start(1);
		HotExchange exchange = this.fleet.get(0).exchange;
		for (int i = 0; i < HotStore.MAX_MARKS; i++) {
			assertThat(exchange.mark(mark("tenant" + i)).toCompletableFuture().join()).isTrue();
		}
		assertThat(exchange.mark(mark("one-more")).toCompletableFuture().join()).isFalse();
		assertThat(exchange.mark(mark("tenant7")).toCompletableFuture().join()).isTrue();
	}

	@Test
	void refusalsAreAddedUpOverTheFleet() {
		start(3);
		for (int i = 0; i < 20; i++) {
			this.fleet.get(0).refusals.count(counter("acme"));
			this.fleet.get(1).refusals.count(counter("acme"));
			this.fleet.get(1).refusals.count(counter("globex"));
		}
		RefusedKey acme = new RefusedKey(CounterName.of(counter("acme")), 40);
		RefusedKey globex = new RefusedKey(CounterName.of(counter("globex")), 20);
		within(5).until(() -> this.fleet.stream()
			.allMatch((instance) -> instance.refusals.top().equals(List.of(acme, globex))));
	}

	@Test
	void allKeysExpire() {
		start(1);
		this.fleet.get(0).load("acme", THRESHOLD / 2);
		this.fleet.get(0).refusals.count(counter("acme"));
		this.fleet.get(0).exchange.mark(mark("acme")).toCompletableFuture().join();
		within(5).until(() -> this.fleet.get(0).counters.maxRate() > 0);
		within(5).until(() -> !this.fleet.get(0).refusals.top().isEmpty());
		assertThat(server().cli("KEYS", "rl:{fleet}:*").lines()).anyMatch((key) -> key.contains(":refused:"))
			.allMatch((key) -> Long.parseLong(server().cli("PTTL", key)) != -1);
		assertThat(server().cli("HGETALL", MARKS)).doesNotContain("\nacme");
	}

	private void start(int instances) {
		for (int i = 0; i < instances; i++) {
			this.fleet.add(new Instance(connector(), THRESHOLD, 1));
		}
	}

	private static HotMark mark(String tenant) {
		return new HotMark(CounterName.of(counter(tenant)), Duration.ofHours(1), "ann", "");
	}

	private static Counter counter(String tenant) {
		return new Counter(SPEC, new CounterKeys("rl"), "orders", List.of(tenant));
	}

	private static Within within(int seconds) {
		return Within.seconds(seconds);
	}

	/** What an instance of an application has of it, and its callers. */
	private static final class Instance {

		final HotCounters counters;

		final TopRefusals refusals = new TopRefusals(System::nanoTime);

		final HotExchange exchange;

		private final RedisConnector connector;

		private volatile int perSecond;

		private volatile boolean closed;

		Instance(RedisConnector connector, int threshold, int instances) {
			this.connector = connector;
			this.counters = new HotCounters(threshold, 100, () -> instances, System::nanoTime);
			connector.start(Duration.ofSeconds(10));
			this.exchange = new HotExchange(this.counters, this.refusals,
					new RedisHotKeys(connector, "rl", "local", HASHES), 100, System::nanoTime);
			this.exchange.start();
		}

		void load(String tenant, int perSecond) {
			if (this.perSecond == 0) {
				Thread callers = new Thread(() -> run(tenant));
				callers.setDaemon(true);
				callers.start();
			}
			this.perSecond = perSecond;
		}

		/** Also a check, but a rare one. */
		boolean isHot(String tenant) {
			this.counters.count(counter(tenant));
			return this.counters.isHot(counter(tenant));
		}

		private void run(String tenant) {
			double due = 0;
			long last = System.nanoTime();
			while (!this.closed) {
				long now = System.nanoTime();
				due += (now - last) / 1e9 * this.perSecond;
				last = now;
				for (; due >= 1; due--) {
					isHot(tenant);
				}
				LockSupport.parkNanos((this.perSecond < 100) ? 20_000_000 : 2_000_000);
			}
		}

		void close() {
			this.closed = true;
			this.exchange.close();
			this.connector.close();
		}

	}

}
