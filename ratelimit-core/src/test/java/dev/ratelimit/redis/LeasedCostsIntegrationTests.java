package dev.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Dimension;
import dev.ratelimit.Enforcement;
import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.LiveWindows;
import dev.ratelimit.counter.Counter;
import dev.ratelimit.counter.CounterKeys;
import dev.ratelimit.counter.CounterSpec;
import dev.ratelimit.lease.VirtualFleet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Expensive requests under leases, through the scripts of a real Redis on the clock of a
 * virtual fleet.
 */
class LeasedCostsIntegrationTests {

	private static final Duration LATENCY = Duration.ofMillis(1);

	@ParameterizedTest
	@CsvSource({ "GCRA, 1, 1", "GCRA, 3, 2", "TOKEN_BUCKET, 1, 1", "TOKEN_BUCKET, 3, 2" })
	void costsUpToTheBurstAreNotRefused(Algorithm algorithm, int instances, int specs) {
		VirtualFleet fleet = onRedis(instances);
		Load load = new Load(fleet, algorithm, specs);
		fleet.each(Duration.ZERO, Duration.ofMillis(660), () -> load.ask(50));
		fleet.pass(Duration.ofSeconds(30));
		assertThat(load.admitted).hasSize(46).doesNotContain(false);
	}

	@ParameterizedTest
	@CsvSource({ "GCRA, 1, 1", "GCRA, 3, 2", "TOKEN_BUCKET, 1, 1", "TOKEN_BUCKET, 3, 2" })
	void expensiveRequestsBesideCheapOnesAreNotRefused(Algorithm algorithm, int instances, int specs) {
		Load load = mixed(onRedis(instances), algorithm, specs);
		assertThat(load.admitted).doesNotContain(false);
		assertThat(load.fleet.calls()).isLessThan(load.admitted.size() * 9L / 10);
		Load inMemory = mixed(VirtualFleet.inMemory(instances, LATENCY), algorithm, specs);
		assertThat(load.fleet.calls()).isEqualTo(inMemory.fleet.calls());
		assertThat(load.fleet.granted()).isEqualTo(inMemory.fleet.granted());
	}

	/** Together they want 98 % of the limit. */
	private static Load mixed(VirtualFleet fleet, Algorithm algorithm, int specs) {
		Load load = new Load(fleet, algorithm, specs);
		fleet.each(Duration.ZERO, Duration.ofMillis(20), () -> load.ask(1));
		fleet.each(Duration.ofMillis(507), Duration.ofMillis(1_400), () -> load.ask(40));
		fleet.pass(Duration.ofSeconds(30));
		return load;
	}

	private static VirtualFleet onRedis(int instances) {
		return new VirtualFleet(instances, LATENCY, (micros) -> Connections.standalone().at(micros));
	}

	/** Callers of one counter, each under one of several equal specs. */
	private static final class Load {

		private final VirtualFleet fleet;

		private final Random random = new Random(1);

		private final List<Counter> counters = new ArrayList<>();

		private final List<Boolean> admitted = new ArrayList<>();

		Load(VirtualFleet fleet, Algorithm algorithm, int specs) {
			this.fleet = fleet;
			Limit limit = Limit.of("per-tenant", List.of(Dimension.TENANT), "80/s burst 50");
			for (int i = 0; i < specs; i++) {
				this.counters.add(new Counter(new CounterSpec(algorithm, limit, Enforcement.LEASED, new LiveWindows()),
						new CounterKeys("rl"), "orders", List.of("acme")));
			}
		}

		void ask(long cost) {
			Counter counter = this.counters.get(this.random.nextInt(this.counters.size()));
			this.fleet.ask(this.random.nextInt(this.fleet.size()), counter, cost,
					(grant) -> this.admitted.add(!grant.refused()));
		}

	}

}
