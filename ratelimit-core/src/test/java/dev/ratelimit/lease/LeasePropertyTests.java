package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Correction;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for leases of several instances, whatever the traffic, in virtual time.
 */
class LeasePropertyTests {

	private static final Duration LATENCY = Duration.ofMillis(1);

	private static final double SECOND = 1e9;

	private static final double EXPIRES = 1;

	@Property(tries = 40, shrinking = ShrinkingMode.OFF)
	void fleetAdmitsNoMoreThanRedisGrantedAndTheBoundHolds(@ForAll long seed,
			@ForAll @IntRange(min = 1, max = 4) int instances, @ForAll @IntRange(min = 50, max = 2_000) int permits,
			@ForAll @IntRange(min = 1, max = 300) int demandPercent) {
		World world = new World(seed, instances, permits, permits, 1, 1);
		world.arrive(0, 1, permits * demandPercent / 100.0);
		world.fleet.pass(Duration.ofSeconds(3));
		assertThat(world.admittedPermits()).isLessThanOrEqualTo(world.fleet.granted());
		world.assertBound();
		// Both sides of the error: who is within the limit is hardly refused, and who is
		// above it gets what it paid for. The first second is full burst and start.
		double fair = Math.min(world.asked.stream().filter((at) -> at > 1).count(), permits * 2);
		long inSteadyState = world.admitted.stream().filter((admission) -> admission.at() > 1).count();
		assertThat((double) inSteadyState).isGreaterThanOrEqualTo(0.95 * fair - instances - 2);
	}

	/**
	 * Redis grants a few permits in each call, so that there is always a lease to wait
	 * for. Whoever it has none for must hear so, and not wait until the deadline: then
	 * the failure mode would answer in place of the limit.
	 */
	@Property(tries = 20, shrinking = ShrinkingMode.OFF)
	void callerFarAboveItsLimitIsRefusedAfterAFewCalls(@ForAll long seed,
			@ForAll @IntRange(min = 1, max = 4) int instances, @ForAll @IntRange(min = 500, max = 10_000) int permits,
			@ForAll @IntRange(min = 150, max = 400) int demandPercent) {
		World world = new World(seed, instances, permits, permits, 1, 1);
		world.arrive(0, 1, permits * demandPercent / 100.0);
		world.fleet.pass(Duration.ofSeconds(3));
		assertThat(world.longestWait).isLessThanOrEqualTo(10 * LATENCY.toNanos());
		assertThat((double) world.admittedPermits()).isGreaterThanOrEqualTo(0.95 * permits * 3);
	}

	@Property(tries = 20, shrinking = ShrinkingMode.OFF)
	void callerWithinItsLimitIsNotRefused(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int instances) {
		World world = new World(seed, instances, 10_000, 10_000, 1, 1);
		world.arrive(0, 1, 8_000);
		world.fleet.pass(Duration.ofSeconds(3));
		assertThat((double) world.refused / world.asked.size()).isLessThan(0.001);
		assertThat(world.fleet.calls()).isLessThan(world.asked.size() / 10);
	}

	/**
	 * Callers of several tiers with costs up to the burst, who together want 80 % of the
	 * limit. They only ask for what they would get from Redis alone, so that every
	 * refusal is a false one. The same traffic each time: one in a thousand is an
	 * average.
	 */
	@Property(generation = GenerationMode.EXHAUSTIVE)
	void costsUpToTheBurstAreNotRefusedFalsely(@ForAll @IntRange(min = 1, max = 4) int instances,
			@ForAll @IntRange(min = 1, max = 3) int specs) {
		long asked = 0;
		long refused = 0;
		long expensive = 0;
		for (int seed = 0; seed < 15; seed++) {
			Random random = new Random(seed);
			int permits = 50 + random.nextInt(500);
			int burst = (int) (permits * (0.25 + 1.75 * random.nextDouble()));
			World world = new World(seed, instances, permits, burst, specs, 0.7);
			world.strict = world.fleet.strict();
			world.arriveMixed(0.8);
			world.fleet.pass(Duration.ofSeconds(30));
			assertThat(world.admittedPermits()).isLessThanOrEqualTo(world.fleet.granted());
			asked += world.asked.size();
			expensive += world.expensive;
			refused += world.refused;
		}
		assertThat(refused).isLessThan(asked / 1_000);
		assertThat(refused).isLessThan(expensive / 100);
	}

	@Property(tries = 30, shrinking = ShrinkingMode.OFF)
	void boundHoldsForMixedCostsAndNothingIsWasted(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int instances,
			@ForAll @IntRange(min = 1, max = 3) int specs, @ForAll @IntRange(min = 50, max = 500) int permits,
			@ForAll @IntRange(min = 100, max = 200) int burstPercent) {
		World world = new World(seed, instances, permits, permits * burstPercent / 100, specs, 1);
		world.arriveMixed(2);
		world.fleet.pass(Duration.ofSeconds(10));
		assertThat(world.admittedPermits()).isLessThanOrEqualTo(world.fleet.granted());
		world.assertBound();
		// Cheap requests take all that expensive ones leave.
		assertThat((double) world.admittedPermits()).isGreaterThanOrEqualTo(0.95 * permits * 10);
	}

	/**
	 * The bound of docs/settling.md: estimates that are settled up to two seconds later,
	 * into leases that still live or into the store.
	 */
	@Property(tries = 30, shrinking = ShrinkingMode.OFF)
	void whatIsReservedAndUsedIsAtMostTwoBurstsAndTheRateUntilLeasesExpire(@ForAll long seed,
			@ForAll @IntRange(min = 1, max = 4) int instances, @ForAll @IntRange(min = 50, max = 500) int permits,
			@ForAll @IntRange(min = 100, max = 200) int burstPercent) {
		World world = new World(seed, instances, permits, permits * burstPercent / 100, 1, 1);
		world.settles = true;
		world.arriveMixed(3);
		world.fleet.pass(Duration.ofSeconds(10));
		assertThat(world.refunds).isPositive();
		world.assertBound(2);
	}

	/**
	 * Some instances, one counter, and callers who come at random.
	 */
	private static final class World {

		private final VirtualFleet fleet;

		private final Random random;

		private final int instances;

		private final double perSecond;

		private final double burst;

		private final List<Counter> counters = new ArrayList<>();

		private final List<Admission> admitted = new ArrayList<>();

		/** Decides who comes at all; everybody does if there is none. */
		private @Nullable MemoryCounters strict;

		/** When requests came, in seconds. */
		private final List<Double> asked = new ArrayList<>();

		/** In nanoseconds. */
		private long longestWait;

		private long expensive;

		private long refused;

		/** Whether the true cost of a request, at most its estimate, is settled later. */
		private boolean settles;

		private int refunds;

		/**
		 * Creates a world.
		 * @param ratio of the quotas of each tier to those of the tier before
		 */
		World(long seed, int instances, long permits, long burst, int specs, double ratio) {
			this.fleet = VirtualFleet.inMemory(instances, LATENCY);
			this.random = new Random(seed);
			this.instances = instances;
			this.perSecond = permits;
			this.burst = burst;
			for (int i = 0; i < specs; i++) {
				double part = Math.pow(ratio, i);
				Limit limit = Limit.of("per-tenant", List.of(Dimension.TENANT),
						Math.round(permits * part) + "/s burst " + Math.max(1, Math.round(burst * part)));
				this.counters.add(new Counter(
						new CounterSpec(Algorithm.GCRA, limit, Enforcement.LEASED, new LiveWindows()), "acme"));
			}
		}

		/** Cheap requests, expensive ones, and one that takes most of the burst. */
		void arriveMixed(double demand) {
			double[] sizes = { 0, this.random.nextDouble() * 0.3, 0.5 + this.random.nextDouble() * 0.5 };
			for (double size : sizes) {
				int spec = this.random.nextInt(this.counters.size());
				CounterSpec asked = this.counters.get(spec).spec();
				long cost = Math.max(1, (long) (asked.largestCost() * size));
				double rate = asked.limit().quotas().get(0).permits();
				arrive(spec, cost, demand / sizes.length * rate / cost);
			}
		}

		void arrive(int spec, long cost, double perSecond) {
			double seconds = (0.5 + this.random.nextDouble()) / perSecond;
			this.fleet.after(Duration.ofNanos((long) (seconds * SECOND)), () -> {
				ask(this.counters.get(spec), cost);
				arrive(spec, cost, perSecond);
			});
		}

		private void ask(Counter counter, long cost) {
			if (this.strict != null && this.strict.acquire(List.of(counter), Permits.exactly(cost))
				.toCompletableFuture()
				.join()
				.refused()) {
				return;
			}
			long came = this.fleet.elapsed();
			this.asked.add(came / SECOND);
			this.expensive += (cost > 1) ? 1 : 0;
			int instance = this.random.nextInt(this.instances);
			this.fleet.ask(instance, counter, cost, (grant) -> {
				this.longestWait = Math.max(this.longestWait, this.fleet.elapsed() - came);
				if (grant.refused()) {
					this.refused++;
				}
				else {
					this.admitted.add(new Admission(this.fleet.elapsed() / SECOND, cost));
					settleLater(instance, grant, this.admitted.size() - 1);
				}
			});
		}

		private void settleLater(int instance, Grant grant, int index) {
			if (!this.settles) {
				return;
			}
			long actual = this.random.nextLong(grant.permits() + 1);
			Duration delay = Duration.ofMillis(this.random.nextInt(2_000));
			this.fleet.after(delay, () -> {
				this.fleet.instance(instance)
					.settle(new Correction("id" + index, grant, actual - grant.permits(), System.nanoTime(), 0));
				this.admitted.set(index, new Admission(this.admitted.get(index).at(), actual));
				this.refunds++;
			});
		}

		long admittedPermits() {
			return this.admitted.stream().mapToLong(Admission::cost).sum();
		}

		/** In any time T at most burst + rate × (T + expiry) are admitted. */
		void assertBound() {
			assertBound(1);
		}

		void assertBound(int bursts) {
			int step = Math.max(1, this.admitted.size() / 50);
			for (int from = 0; from < this.admitted.size(); from += step) {
				long sum = 0;
				for (int to = from; to < this.admitted.size(); to++) {
					sum += this.admitted.get(to).cost();
					double seconds = this.admitted.get(to).at() - this.admitted.get(from).at();
					assertThat((double) sum)
						.isLessThanOrEqualTo(bursts * this.burst + this.perSecond * (seconds + EXPIRES) + 1);
				}
			}
		}

	}

	private record Admission(double at, long cost) {
	}

}
