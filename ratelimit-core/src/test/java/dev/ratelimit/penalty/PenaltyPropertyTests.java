package dev.ratelimit.penalty;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Limit;
import dev.ratelimit.Penalty;
import dev.ratelimit.Request;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A caller and a fleet in virtual time. The clocks of instances and of Redis differ, and
 * one offence is enough for a penalty.
 */
class PenaltyPropertyTests {

	private static final Penalty STRICTEST = new Penalty(1, Duration.ofSeconds(10), Duration.ofSeconds(60), 2,
			Duration.ofSeconds(300), 0);

	private static final Counter COUNTER = new Counter(
			new CounterSpec(Algorithm.GCRA, Limit.of("per-user", List.of(Dimension.USER), "5/s")),
			new CounterKeys("rl"), "orders", List.of("ann"));

	private static final Request REQUEST = Request.of("orders").with(Dimension.USER, "ann");

	@Property(tries = 300)
	void callerThatObeysRetryAfterIsNeverPenalised(@ForAll long seed, @ForAll @IntRange(min = 1, max = 5) int instances,
			@ForAll @IntRange(min = 1, max = 249) int roundTripMillis) {
		Fleet fleet = new Fleet(new Random(seed), instances);
		fleet.obedient(roundTripMillis * 1_000L, 200);
		assertThat(fleet.store.offences(COUNTER.key())).isZero();
		assertThat(fleet.began).isEmpty();
		assertThat(fleet.isHeld()).isFalse();
	}

	@Property(tries = 100)
	void callerThatNeverWaitsIsBannedByTheWholeFleet(@ForAll long seed,
			@ForAll @IntRange(min = 1, max = 5) int instances,
			@ForAll @IntRange(min = 50, max = 400) int periodMillis) {
		Fleet fleet = new Fleet(new Random(seed), instances);
		fleet.relentless(periodMillis * 1_000L, 30_000_000);
		assertThat(fleet.began).contains(PenaltyListener.Kind.BAN);
		assertThat(fleet.isHeld()).isTrue();
	}

	/** Times are microseconds. */
	private static final class Fleet {

		private final Random random;

		private final long redisAhead;

		private final List<Instance> instances = new ArrayList<>();

		final ModelStore store;

		final List<PenaltyListener.Kind> began = new ArrayList<>();

		private long now = 1_000_000_000;

		private long nextTurn = this.now;

		Fleet(Random random, int instances) {
			this.random = random;
			this.redisAhead = random.nextInt(1_000_000_000);
			this.store = new ModelStore(() -> this.now + this.redisAhead);
			for (int i = 0; i < instances; i++) {
				this.instances.add(new Instance(random.nextLong(Long.MAX_VALUE)));
			}
		}

		/**
		 * Sends requests until it hears of a refusal, and then nothing until the end of
		 * all waits that it was told.
		 */
		void obedient(long roundTrip, int runs) {
			for (int run = 0; run < runs; run++) {
				long first = this.now + this.random.nextInt(3_000_000);
				// What it sends before it hears of the first refusal arrives within a
				// round trip, and answers take a part of one.
				PriorityQueue<Long> arrivals = new PriorityQueue<>(List.of(first));
				for (int i = this.random.nextInt(6); i > 0; i--) {
					arrivals.add(first + this.random.nextLong(roundTrip));
				}
				long until = 0;
				for (Long arrival = arrivals.poll(); arrival != null; arrival = arrivals.poll()) {
					advance(arrival);
					until = Math.max(until, this.now + refuse());
				}
				advance(until + (this.random.nextBoolean() ? 0 : this.random.nextInt(100_000)));
			}
			advance(this.now + 3_000_000);
		}

		/** For a time that is shorter than a ban. */
		void relentless(long period, long time) {
			long end = this.now + time;
			while (this.now < end) {
				advance(this.now + period);
				refuse();
			}
			advance(this.now + 1_000_000);
		}

		/** A refusal by any instance, by Redis or from memory. */
		private long refuse() {
			Instance instance = this.instances.get(this.random.nextInt(this.instances.size()));
			Penalties.Held held = instance.penalties.find(STRICTEST, REQUEST, List.of(COUNTER));
			if (held != null) {
				return held.waitMicros();
			}
			long wait = this.random.nextBoolean() ? this.random.nextInt(200_000) : this.random.nextInt(5_000_000);
			long central = this.random.nextBoolean() ? this.now + this.redisAhead : -1;
			return instance.penalties.refused(STRICTEST, REQUEST, COUNTER, wait, central);
		}

		private void advance(long to) {
			while (this.nextTurn <= to) {
				this.now = Math.max(this.now, this.nextTurn);
				this.instances.forEach((instance) -> instance.exchange.turn());
				this.nextTurn += 200_000;
			}
			this.now = Math.max(this.now, to);
		}

		boolean isHeld() {
			return this.instances.stream()
				.anyMatch((instance) -> instance.penalties.find(STRICTEST, REQUEST, List.of(COUNTER)) != null);
		}

		private final class Instance {

			private final Penalties penalties;

			private final PenaltyExchange exchange;

			Instance(long ahead) {
				this.penalties = Penalties.shared((policy, kind) -> Fleet.this.began.add(kind), (ip) -> false,
						() -> ahead + Fleet.this.now * 1_000);
				this.exchange = new PenaltyExchange(this.penalties, Fleet.this.store, () -> true);
			}

		}

	}

}
