package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.counter.Reading;
import dev.ratelimit.memory.MemoryCounters;

import static dev.ratelimit.testing.Stages.join;
import static org.assertj.core.api.Assertions.assertThat;

/** What a fleet with leases promises, in virtual time. */
class LeaseFleetTests {

	private static final Duration LATENCY = Duration.ofMillis(1);

	private static final long SECOND = 1_000_000_000;

	private int asked;

	private int refused;

	private int leased;

	@ParameterizedTest
	@CsvSource({ "1, 1", "1, 3", "2, 1", "2, 3", "4, 1", "4, 3" })
	void requestsAsLargeAsTheBurstAreNotRefused(int instances, int specs) {
		VirtualFleet fleet = VirtualFleet.inMemory(instances, LATENCY);
		List<Counter> counters = counters(specs, "80/s burst 50");
		Random random = new Random(1);
		fleet.each(Duration.ZERO, Duration.ofMillis(660), () -> ask(fleet, random, counters, 50));
		fleet.pass(Duration.ofSeconds(60));
		assertThat(this.asked).isEqualTo(91);
		assertThat(this.refused).isZero();
	}

	/** Together they want 98 % of the limit. */
	@ParameterizedTest
	@CsvSource({ "1, 1", "1, 3", "2, 1", "2, 3", "4, 1", "4, 3" })
	void expensiveRequestsBesideCheapOnesAreNotRefused(int instances, int specs) {
		VirtualFleet fleet = VirtualFleet.inMemory(instances, LATENCY);
		List<Counter> counters = counters(specs, "80/s burst 50");
		Random random = new Random(1);
		fleet.each(Duration.ZERO, Duration.ofMillis(20), () -> ask(fleet, random, counters, 1));
		fleet.each(Duration.ofMillis(507), Duration.ofMillis(1_400), () -> ask(fleet, random, counters, 40));
		fleet.pass(Duration.ofSeconds(170));
		assertThat(this.refused).isZero();
		assertThat(this.leased).isGreaterThan(this.asked / 10);
	}

	/** Leases have grown by then, and no instance expects it. */
	@Test
	void expensiveRequestThatNobodyExpectsIsPaidByLeasesAndRedisTogether() {
		VirtualFleet fleet = VirtualFleet.inMemory(1, LATENCY);
		List<Counter> counters = counters(1, "80/s burst 50");
		Random random = new Random(1);
		fleet.each(Duration.ZERO, Duration.ofMillis(20), () -> ask(fleet, random, counters, 1));
		fleet.each(Duration.ofSeconds(20), Duration.ofSeconds(110), () -> ask(fleet, random, counters, 45));
		fleet.pass(Duration.ofSeconds(600));
		assertThat(this.refused).isZero();
	}

	/** Calls are never as even as their average: each instance may begin at any time. */
	@ParameterizedTest
	@CsvSource({ "1, 90", "3, 90", "3, 150" })
	void fleetMakesAtMost3000CallsASecondForLeasesOfOneCounter(int specs, int percent) {
		int instances = 2_000;
		int perSecond = 20_000 * specs;
		VirtualFleet fleet = VirtualFleet.inMemory(instances, LATENCY);
		List<Counter> counters = counters(specs, perSecond / percent * 100 + "/s");
		Random random = new Random(1);
		long each = instances * SECOND / perSecond;
		for (int i = 0; i < instances; i++) {
			int instance = i;
			fleet.each(Duration.ofNanos((long) (random.nextDouble() * SECOND)), Duration.ofNanos(each),
					() -> ask(fleet, instance, counters.get(random.nextInt(specs)), 1));
		}
		fleet.pass(Duration.ofSeconds(5));
		assertThat(most(fleet.leaseCalls(), 2 * SECOND)).isLessThanOrEqualTo(2 * 3_000);
		if (percent < 100) {
			// The bound must not turn requests into calls of their own.
			assertThat(this.leased).isGreaterThan(this.asked * 8 / 10);
			assertThat(fleet.calls()).isLessThan(this.asked / 4);
		}
	}

	@Test
	void leasesThatComeAfterTheDeadlineAreSpent() {
		VirtualFleet fleet = VirtualFleet.inMemory(1, LATENCY.multipliedBy(50));
		Counter counter = counters(1, "10000/s").get(0);
		// One that waits, so that something is known of the counter.
		fleet.ask(0, counter, 1, (grant) -> assertThat(grant.refused()).isFalse());
		fleet.pass(Duration.ofMillis(100));
		fleet.each(Duration.ZERO, Duration.ofMillis(1), () -> {
			this.asked++;
			fleet.ask(0, counter, 1, Duration.ofMillis(20))
				.thenAccept((grant) -> this.leased += (grant.source() == Decision.Source.LEASE) ? 1 : 0);
		});
		fleet.pass(Duration.ofSeconds(10));
		long unspent = fleet.instance(0).held(counter);
		assertThat(this.leased).isGreaterThan(this.asked / 2);
		assertThat(this.leased + unspent).isGreaterThan(fleet.leased() * 95 / 100);
	}

	@ParameterizedTest
	@CsvSource({ "1, 1000000", "4, 100000" })
	void whatIsKnownHereIsBoundedWhateverComes(int specs, int keys) {
		int maximum = 5_000;
		LeaseOptions options = new LeaseOptions(Duration.ofMillis(100), 20, Duration.ofSeconds(1), maximum);
		LeasedCounters counters = new LeasedCounters(refusing(), options, () -> 1, (counter) -> true, (permits) -> {
		}, () -> SECOND, FakeCounters.NEVER);
		List<CounterSpec> limits = counters(specs, "1/d").stream().map(Counter::spec).toList();
		for (int i = 0; i < keys; i++) {
			for (CounterSpec limit : limits) {
				counters.acquire(List.of(new Counter(limit, "key-" + i)), Permits.exactly(1));
			}
			if (i % (keys / 10) == 0) {
				assertThat(counters.size()).isLessThanOrEqualTo(2 * maximum);
			}
		}
		assertThat(counters.size()).isBetween((long) maximum, 2L * maximum);
	}

	private void ask(VirtualFleet fleet, Random random, List<Counter> counters, long cost) {
		ask(fleet, random.nextInt(fleet.size()), counters.get(random.nextInt(counters.size())), cost);
	}

	private void ask(VirtualFleet fleet, int instance, Counter counter, long cost) {
		this.asked++;
		fleet.ask(instance, counter, cost, (grant) -> {
			this.refused += grant.refused() ? 1 : 0;
			this.leased += (grant.source() == Decision.Source.LEASE) ? 1 : 0;
		});
	}

	/** The largest number within any time that long. */
	private static int most(List<Long> times, long nanos) {
		int most = 0;
		for (int first = 0, last = 0; last < times.size(); last++) {
			while (times.get(last) - times.get(first) >= nanos) {
				first++;
			}
			most = Math.max(most, last - first + 1);
		}
		return most;
	}

	/** One counter, as callers of equal tiers see it. */
	private static List<Counter> counters(int specs, String quota) {
		List<Counter> counters = new ArrayList<>();
		for (int i = 0; i < specs; i++) {
			counters.add(new Counter(new CounterSpec(Algorithm.GCRA,
					Limit.of("per-tenant", List.of(Dimension.TENANT), quota), Enforcement.LEASED, new LiveWindows()),
					"acme"));
		}
		return counters;
	}

	/** Counters that are used up, all of them. */
	private static Counters refusing() {
		Counters memory = new MemoryCounters(1, () -> 0);
		long[] state = join(memory.acquire(counters(1, "1/d"), Permits.exactly(1))).readings().get(0).state();
		return new FakeCounters(memory, (counters, permits, timeout) -> CompletableFuture.completedStage(
				new Grant(permits, 0, List.of(new Reading(counters.get(0), state, 0)), Decision.Source.REDIS)));
	}

}
