package dev.ratelimit.benchmarks.capacity;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class CapacityPlanTests {

	private static final Numbers NUMBERS = Numbers.committed();

	@Test
	void strictPlanHasRedisDecideEveryLimitOfEveryRequest() {
		CapacityPlan plan = CapacityPlan.of(1_000_000, 3, 100_000, CapacityPlan.STRICT, NUMBERS);

		assertThat(plan.checks()).isCloseTo(3_000_000, within(1.0));
		assertThat(plan.leases()).isZero();
		// 65,700 / 3 instructions at 18,000 * 160,000 a second.
		assertThat(plan.redisCores()).isCloseTo(3e6 * 21_900 / (18_000 * 160_000.0), within(0.01));
		assertThat(plan.shards()).isEqualTo(39);
		assertThat(plan.instances()).isEqualTo(100);
	}

	@Test
	void adaptivePlanLeasesWhatIsAboveTheThreshold() {
		CapacityPlan strict = CapacityPlan.of(1_000_000, 3, 100_000, CapacityPlan.STRICT, NUMBERS);
		CapacityPlan plan = CapacityPlan.of(1_000_000, 3, 100_000, CapacityPlan.ADAPTIVE, NUMBERS);

		assertThat(plan.checks()).isBetween(1_000_000.0, 2_000_000.0);
		// 100 instances ask 10 times a second for each of a few dozen counters.
		assertThat(plan.leases()).isBetween(20_000.0, 40_000.0);
		assertThat(plan.shards()).isLessThan(strict.shards());
		assertThat(plan.limitsAt()).doesNotContainKey("busiest counter");
	}

	@Test
	void leaseCallsForACounterAreBoundedHoweverManyInstancesThereAre() {
		CentralLoad load = CentralLoad.of(10_000_000, 1, 1.2, 10_000, 3_000);

		assertThat(load).isEqualTo(new CentralLoad(0, 3_000, 10_000_000));
	}

	@Test
	void theBusiestCounterIsTheFirstEndOfAStrictPlan() {
		CapacityPlan plan = CapacityPlan.of(1_000_000, 1, 100, CapacityPlan.STRICT, NUMBERS);

		// All of a tenant's requests are in one slot.
		assertThat(plan.first()).isIn("busiest counter", "slot of the largest tenant");
	}

	@Test
	void nodeThatIsTooSmallIsSaidToBe() {
		CapacityPlan plan = CapacityPlan.of(1_000, 3, 100, CapacityPlan.STRICT,
				NUMBERS.with("node-bytes", 1e6, "assumption", "test"));

		assertThat(plan.first()).isEqualTo("memory of a shard");
	}

}
