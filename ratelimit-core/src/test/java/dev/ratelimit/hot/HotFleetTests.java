package dev.ratelimit.hot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A fleet behind a load balancer that chooses at random, in virtual time. Each instance
 * exchanges once a second at its own moment, through a store that adds up as
 * {@code hot.lua} does.
 */
class HotFleetTests {

	private static final int THRESHOLD = 10_000;

	private static final int TOP = 100;

	private static final Duration STEP = Duration.ofMillis(20);

	/** A quarter of what instances have, or 2,000 of them would need half a gigabyte. */
	private static final int SKETCH_BLOCKS = 256;

	private static final CounterSpec SPEC = new CounterSpec(Algorithm.GCRA,
			Limit.of("per-tenant", List.of(Dimension.TENANT), "1000000/s"), Enforcement.ADAPTIVE, new LiveWindows());

	private final Random random = new Random(1);

	private final AtomicLong nanos = new AtomicLong();

	private final Store store = new Store();

	private final List<Instance> fleet = new ArrayList<>();

	private int oneTimeKeys;

	private int times = 1;

	@ParameterizedTest
	@ValueSource(ints = { 3, 100, 312, 2_000 })
	void oneAndAHalfTimesTheThresholdIsHotOnAllInstancesWithinThreeSeconds(int instances) {
		start(instances);
		// Traffic begins at another moment of Redis's second each time.
		for (int moment = 0; moment < 1_000; moment += 220) {
			run(Duration.ofMillis(4_000 + moment), 0, 0);
			assertThat(hotOverAll()).isZero();
			run(Duration.ofSeconds(3), 1.5 * THRESHOLD, 0);
			assertThat(countHot("acme")).isEqualTo(instances);
			run(Duration.ofMillis(1_000 - moment), 0, 0);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 3, 100, 312, 2_000 })
	void fourTenthsOfTheThresholdIsNeverHotOnAnyInstance(int instances) {
		start(instances);
		for (int second = 0; second < 10; second++) {
			run(Duration.ofSeconds(1), 0.4 * THRESHOLD, 0);
			assertThat(hotOverAll()).isZero();
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 3, 100, 312, 2_000 })
	void whatWasHotCalmsDown(int instances) {
		start(instances);
		run(Duration.ofSeconds(4), 1.5 * THRESHOLD, 0);
		assertThat(countHot("acme")).isEqualTo(instances);
		run(Duration.ofSeconds(6), 0.4 * THRESHOLD, 0);
		assertThat(hotOverAll()).isZero();
	}

	@Test
	void amongAMillionOneTimeKeysTheHotOneIsFoundAndNothingElseIsKept() {
		start(2_000);
		run(Duration.ofSeconds(1), 0, 250_000);
		run(Duration.ofSeconds(3), 1.5 * THRESHOLD, 250_000);
		assertThat(this.oneTimeKeys).isGreaterThan(900_000);
		assertThat(countHot("acme")).isEqualTo(2_000);
		assertThat(hotOverAll()).isEqualTo(2_000);
		assertThat(this.store.most).as("counters in the store").isLessThan(2_000);
	}

	@Test
	void amongKeysThatComeThreeTimesEachTheHotOneIsFound() {
		start(500);
		this.times = 3;
		run(Duration.ofSeconds(1), 0, 62_500);
		run(Duration.ofSeconds(3), 1.5 * THRESHOLD, 62_500);
		assertThat(countHot("acme")).isEqualTo(500);
		assertThat(hotOverAll()).isEqualTo(500);
	}

	private void start(int instances) {
		for (int i = 0; i < instances; i++) {
			this.fleet.add(new Instance(instances));
		}
	}

	/** Checks of one counter and of many that come once, per second over the fleet. */
	private void run(Duration time, double perSecond, double oneTimeKeys) {
		long end = this.nanos.get() + time.toNanos();
		double share = STEP.toNanos() / 1e9 / this.fleet.size();
		while (this.nanos.get() < end) {
			for (Instance instance : this.fleet) {
				int checks = poisson(perSecond * share);
				for (int i = 0; i < checks; i++) {
					instance.counters.count(counter("acme"));
				}
				int once = poisson(oneTimeKeys * share);
				for (int i = 0; i < once; i++) {
					Counter counter = counter("tenant" + this.oneTimeKeys++);
					for (int n = 0; n < this.times; n++) {
						instance.counters.count(counter);
					}
				}
				instance.exchangeIfDue();
			}
			this.nanos.addAndGet(STEP.toNanos());
		}
	}

	private long countHot(String tenant) {
		return this.fleet.stream().map((instance) -> instance.counters).filter((counters) -> {
			counters.count(counter(tenant));
			return counters.isHot(counter(tenant));
		}).count();
	}

	private int hotOverAll() {
		return this.fleet.stream().mapToInt((instance) -> instance.counters.size()).sum();
	}

	private int poisson(double mean) {
		int count = 0;
		double left = mean;
		while ((left += Math.log(1 - this.random.nextDouble())) > 0) {
			count++;
		}
		return count;
	}

	private static Counter counter(String tenant) {
		return new Counter(SPEC, tenant);
	}

	/** What an instance has of it, without threads. */
	private final class Instance {

		private final HotCounters counters;

		/** As in {@code RedisHotKeys}: away from the edges of a second. */
		private final long phase = Duration.ofMillis(250 + HotFleetTests.this.random.nextInt(500)).toNanos();

		private long next = this.phase;

		Instance(int instances) {
			this.counters = new HotCounters(THRESHOLD, 10_000, () -> instances, HotFleetTests.this.nanos::get,
					() -> new Sketch(SKETCH_BLOCKS));
		}

		/** A second begins, by Redis's clock, when the time is a multiple of one. */
		void exchangeIfDue() {
			long now = HotFleetTests.this.nanos.get();
			if (now >= this.next) {
				this.next += Duration.ofSeconds(1).toNanos();
				List<HotKey> seen = this.counters.seen(TOP);
				this.counters.learn(HotFleetTests.this.store.exchange(seen, now / Duration.ofSeconds(1).toNanos()));
			}
			this.counters.turnIfDue();
		}

	}

	/** Adds up rates of a second and shows those of the one before. */
	private static final class Store {

		private Map<CounterName, Long> current = new HashMap<>();

		private Map<CounterName, Long> before = new HashMap<>();

		private List<HotKey> top = List.of();

		private long second;

		private int most;

		HotStore.View exchange(List<HotKey> seen, long second) {
			if (second > this.second) {
				this.before = (second == this.second + 1) ? this.current : Map.of();
				this.current = new HashMap<>();
				this.second = second;
				this.most = Math.max(this.most, this.before.size());
				this.top = this.before.entrySet()
					.stream()
					.map((entry) -> new HotKey(entry.getKey(), entry.getValue()))
					.sorted(Comparator.comparingLong(HotKey::perSecond).reversed())
					.limit(TOP)
					.toList();
			}
			seen.forEach((key) -> this.current.merge(key.name(), key.perSecond(), Long::sum));
			return new HotStore.View(this.top, List.of(), List.of(), Duration.ofSeconds(1));
		}

	}

}
