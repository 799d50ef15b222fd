package dev.ratelimit.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.counter.Counters;
import dev.ratelimit.counter.Grant;
import dev.ratelimit.counter.Permits;
import dev.ratelimit.memory.MemoryCounters;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for leases of several instances, whatever the traffic, in virtual time.
 */
class LeaseProperties {

	private static final Duration LATENCY = Duration.ofMillis(1);

	private static final Duration STEP = Duration.ofNanos(100_000);

	private static final Duration EXPIRES = Duration.ofSeconds(1);

	@Property(tries = 60)
	void fleetAdmitsNoMoreThanRedisGrantedAndTheBoundHolds(@ForAll long seed,
			@ForAll @IntRange(min = 1, max = 4) int instances, @ForAll @IntRange(min = 50, max = 5_000) int permits,
			@ForAll @IntRange(min = 1, max = 300) int demandPercent) {
		World world = new World(instances, permits + "/s");
		Random random = new Random(seed);
		double perStep = permits * demandPercent / 100.0 * STEP.toNanos() / 1e9;
		List<Long> admitted = new ArrayList<>();
		double due = 0;
		for (int step = 0; step < 30_000; step++) {
			world.pass(STEP);
			for (due += perStep; due >= 1; due--) {
				if (world.ask(random.nextInt(instances))) {
					admitted.add(world.nanos.get());
				}
			}
		}
		assertThat(admitted.size()).isLessThanOrEqualTo((int) world.granted);
		assertBound(admitted, permits, permits);
		double offered = permits * demandPercent / 100.0;
		double fair = Math.min(offered, permits);
		// Both sides of the error: who is within the limit is hardly refused, and who is
		// above it gets what it paid for. The first second is full burst and start.
		long inSteadyState = admitted.stream().filter((at) -> at > world.start + 1_000_000_000L).count();
		assertThat((double) inSteadyState).isGreaterThanOrEqualTo(0.95 * fair * 2 - instances - 2);
	}

	@Property(tries = 20)
	void callerWithinItsLimitIsNotRefused(@ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int instances) {
		World world = new World(instances, "10000/s");
		Random random = new Random(seed);
		int refused = 0;
		int asked = 0;
		double due = 0;
		for (int step = 0; step < 30_000; step++) {
			world.pass(STEP);
			for (due += 0.8; due >= 1; due--) {
				asked++;
				refused += world.ask(random.nextInt(instances)) ? 0 : 1;
			}
		}
		assertThat((double) refused / asked).isLessThan(0.001);
		assertThat(world.calls).isLessThan(asked / 10);
	}

	private static void assertBound(List<Long> admitted, long burst, long perSecond) {
		for (int from = 0; from < admitted.size(); from += Math.max(1, admitted.size() / 50)) {
			for (int to = from; to < admitted.size(); to += Math.max(1, admitted.size() / 50)) {
				double seconds = (admitted.get(to) - admitted.get(from)) / 1e9;
				assertThat(to - from + 1L)
					.isLessThanOrEqualTo((long) Math.ceil(burst + perSecond * (seconds + EXPIRES.toSeconds())) + 1);
			}
		}
	}

	/**
	 * Some instances before one set of counters that takes a while to answer.
	 */
	private static final class World {

		private final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);

		private final long start = this.nanos.get();

		private final MemoryCounters redis = new MemoryCounters(1_000, () -> this.nanos.get() / 1_000, this.nanos::get);

		private final List<Answer> underWay = new ArrayList<>();

		private final List<LeasedCounters> fleet = new ArrayList<>();

		private final Counter counter;

		private long granted;

		private int calls;

		World(int instances, String quota) {
			this.counter = new Counter(new CounterSpec(Algorithm.GCRA,
					Limit.of("per-tenant", List.of(Dimension.TENANT), quota), Enforcement.LEASED), "acme");
			for (int i = 0; i < instances; i++) {
				this.fleet.add(new LeasedCounters(new Slow(), LeaseOptions.DEFAULTS, () -> instances, (counter) -> true,
						(permits) -> {
						}, this.nanos::get));
			}
		}

		void pass(Duration time) {
			this.nanos.addAndGet(time.toNanos());
			List<Answer> due = this.underWay.stream().filter((answer) -> answer.at <= this.nanos.get()).toList();
			this.underWay.removeAll(due);
			due.forEach(Answer::give);
		}

		/** A request that has to ask Redis waits for it, and time passes. */
		boolean ask(int instance) {
			CompletableFuture<Grant> grant = this.fleet.get(instance)
				.acquire(List.of(this.counter), Permits.exactly(1), Duration.ofSeconds(1))
				.toCompletableFuture();
			if (!grant.isDone()) {
				this.underWay.stream().filter((answer) -> !answer.stage.isDone()).toList().forEach(Answer::give);
				this.underWay.clear();
			}
			return !grant.join().refused();
		}

		private final class Slow implements Counters {

			@Override
			public CompletionStage<Grant> acquire(List<Counter> counters, Permits permits, Duration timeout) {
				World.this.calls++;
				Grant grant = World.this.redis.acquire(counters, permits).toCompletableFuture().join();
				World.this.granted += grant.permits();
				Answer answer = new Answer(World.this.nanos.get() + LATENCY.toNanos(), grant,
						new CompletableFuture<>());
				World.this.underWay.add(answer);
				return answer.stage;
			}

			@Override
			public CompletionStage<Void> giveBack(Grant grant, long permits) {
				return World.this.redis.giveBack(grant, permits);
			}

			@Override
			public CompletionStage<Void> reset(List<Counter> counters) {
				return World.this.redis.reset(counters);
			}

			@Override
			public Decision.Source source() {
				return Decision.Source.REDIS;
			}

		}

		private record Answer(long at, Grant grant, CompletableFuture<Grant> stage) {

			void give() {
				this.stage.complete(this.grant);
			}

		}

	}

}
