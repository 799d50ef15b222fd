package dev.ratelimit.split;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.FailureMode;
import dev.ratelimit.Limit;
import dev.ratelimit.Policy;
import dev.ratelimit.Request;
import dev.ratelimit.assembly.RateLimiterBuilder;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.FakeCounters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.lease.LeaseOptions;
import dev.ratelimit.lease.LeasedCounters;
import dev.ratelimit.limiter.Fallback;
import dev.ratelimit.limiter.LimiterOptions;
import dev.ratelimit.limiter.PolicyRateLimiter;
import dev.ratelimit.memory.MemoryCounters;
import dev.ratelimit.policy.PolicySet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for counters in parts, whatever the traffic and the number of instances, in
 * virtual time.
 */
class SplitPropertyTests {

	private static final Duration STEP = Duration.ofNanos(200_000);

	private static final int STEPS = 15_000;

	private static final Request ACME = Request.of("orders").with(Dimension.TENANT, "acme");

	@Property(tries = 60)
	void fleetStaysBelowTheLimitInEveryIntervalAndWhoIsAboveItGetsIt(@ForAll long seed,
			@ForAll @IntRange(min = 1, max = 4) int instances, @ForAll @IntRange(min = 2, max = 16) int parts,
			@ForAll @IntRange(min = 50, max = 5_000) int permits,
			@ForAll @IntRange(min = 1, max = 300) int demandPercent) {
		World world = new World(instances, permits + "/s", parts, Enforcement.STRICT);
		List<Long> admitted = world.run(new Random(seed), permits * demandPercent / 100.0, 1);
		assertBound(admitted, permits, permits, 0);
		double fair = Math.min(demandPercent / 100.0, 1) * permits;
		assertThat((double) inSteadyState(admitted, world)).isGreaterThanOrEqualTo(0.95 * fair * 2 - 2);
	}

	@Property(tries = 40)
	void callerWithinItsLimitIsNeverRefused(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int instances,
			@ForAll @IntRange(min = 2, max = 16) int parts) {
		World world = new World(instances, "5000/s", parts, Enforcement.STRICT);
		world.run(new Random(seed), 4_900, 1);
		assertThat(world.refused).isZero();
	}

	@Property(tries = 40)
	void costsAreOnlyRefusedWhereNoPartHasThem(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int instances,
			@ForAll @IntRange(min = 2, max = 8) int parts, @ForAll @IntRange(min = 2, max = 20) int cost) {
		World world = new World(instances, "4000/s", parts, Enforcement.STRICT);
		List<Long> admitted = world.run(new Random(seed), 8_000.0 / cost, cost);
		assertBound(admitted, 4_000 / cost, 4_000.0 / cost, 0);
		assertThat((double) inSteadyState(admitted, world) * cost).isGreaterThanOrEqualTo(0.95 * 4_000 * 2);
	}

	@Property(tries = 30)
	void leasesOfPartsStayWithinTheirBound(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int instances,
			@ForAll @IntRange(min = 2, max = 8) int parts, @ForAll @IntRange(min = 1_000, max = 5_000) int permits,
			@ForAll @IntRange(min = 1, max = 300) int demandPercent) {
		World world = new World(instances, permits + "/s", parts, Enforcement.LEASED);
		List<Long> admitted = world.run(new Random(seed), permits * demandPercent / 100.0, 1);
		assertBound(admitted, permits, permits, 1);
		double fair = Math.min(demandPercent / 100.0, 1) * permits;
		assertThat((double) inSteadyState(admitted, world))
			.isGreaterThanOrEqualTo(0.95 * fair * 2 - instances * parts - 2);
	}

	@Property(tries = 20)
	void refusedCallerCostsFarFewerCallsThanItMakes(@ForAll long seed, @ForAll @IntRange(min = 2, max = 16) int parts) {
		World world = new World(1, "100/s", parts, Enforcement.STRICT);
		List<Long> admitted = world.run(new Random(seed), 4_900, 1);
		assertThat(world.calls).isLessThan(3L * admitted.size() + 2L * parts);
	}

	private static long inSteadyState(List<Long> admitted, World world) {
		return admitted.stream().filter((at) -> at > world.start + 1_000_000_000L).count();
	}

	private static void assertBound(List<Long> admitted, long burst, double perSecond, double slackSeconds) {
		int step = Math.max(1, admitted.size() / 60);
		for (int from = 0; from < admitted.size(); from += step) {
			for (int to = from; to < admitted.size(); to += step) {
				double seconds = (admitted.get(to) - admitted.get(from)) / 1e9;
				assertThat(to - from + 1L)
					.isLessThanOrEqualTo((long) (burst + perSecond * (seconds + slackSeconds)) + 1);
			}
		}
	}

	/**
	 * Some instances before the same counters.
	 */
	private static final class World {

		private final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);

		private final long start = this.nanos.get();

		private final MemoryCounters redis = new MemoryCounters(1_000, () -> this.nanos.get() / 1_000, this.nanos::get);

		private final List<PolicyRateLimiter> fleet = new ArrayList<>();

		private long refused;

		private long calls;

		World(int instances, String quota, int parts, Enforcement enforcement) {
			Limit limit = Limit.of("per-tenant", List.of(Dimension.TENANT), quota).withSplit(parts);
			PolicySet policies = PolicySet
				.of(Policy.builder("orders").enforcement(enforcement).algorithm(Algorithm.GCRA).limit(limit).build());
			LimiterOptions options = new LimiterOptions(Duration.ofSeconds(30), FailureMode.ALLOW, 64);
			for (int i = 0; i < instances; i++) {
				Counters leased = new LeasedCounters(new FakeCounters(this.redis, this::askRedis),
						LeaseOptions.DEFAULTS, () -> instances, (counter) -> true, (permits) -> {
						}, this.nanos::get, FakeCounters.NEVER);
				this.fleet.add(RateLimiterBuilder.on(leased)
					.policies(() -> policies)
					.fallback(Fallback.to(new MemoryCounters(10, () -> 0)))
					.options(options)
					.build());
			}
		}

		private CompletionStage<Grant> askRedis(List<Counter> counters, Permits permits, Duration timeout) {
			this.calls++;
			return this.redis.acquire(counters, permits);
		}

		List<Long> run(Random random, double perSecond, int cost) {
			List<Long> admitted = new ArrayList<>();
			double due = 0;
			for (int step = 0; step < STEPS; step++) {
				this.nanos.addAndGet(STEP.toNanos());
				for (due += perSecond * STEP.toNanos() / 1e9; due >= 1; due--) {
					Decision decision = this.fleet.get(random.nextInt(this.fleet.size()))
						.check(ACME.withCost(cost))
						.toCompletableFuture()
						.join();
					if (decision.allowed()) {
						admitted.add(this.nanos.get());
					}
					else {
						this.refused++;
					}
				}
			}
			return admitted;
		}

	}

}
