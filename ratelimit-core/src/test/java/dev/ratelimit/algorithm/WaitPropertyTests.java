package dev.ratelimit.algorithm;

import java.util.SplittableRandom;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Times that callers are told are exact to the microsecond, in all five algorithms.
 */
@PropertyDefaults(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
class WaitPropertyTests {

	@Property
	void costFitsAfterTheWaitAndNotAMicrosecondEarlier(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long now = counting.time + random.nextLong(2_000_000);
		long cost = random.nextLong(1, scenario.largestCost() + 1);
		long wait = counting.waitFor(now, cost);
		assertThat(wait).isNotNegative();
		assertThat(counting.available(now + wait)).isGreaterThanOrEqualTo(cost);
		if (wait > 0) {
			assertThat(counting.available(now + wait - 1)).isLessThan(cost);
		}
	}

	@Property
	void eachQuotaHasOnePermitMoreAfterTheWaitForItAndNotAMicrosecondEarlier(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		long now = counting.time;
		for (int quota = 0; quota < counting.paces.length; quota++) {
			long remaining = counting.remaining(quota, now);
			if (remaining < scenario.quotas().get(quota).burst()) {
				long wait = counting.waitFor(quota, now, remaining + 1);
				assertThat(wait).isPositive();
				assertThat(counting.remaining(quota, now + wait)).isGreaterThan(remaining);
				assertThat(counting.remaining(quota, now + wait - 1)).isEqualTo(remaining);
			}
		}
	}

	@Property
	void eachQuotaIsFullAfterItsResetAndNotAMicrosecondEarlier(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		long now = counting.time + scenario.random().nextLong(2_000_000);
		for (int quota = 0; quota < counting.paces.length; quota++) {
			long burst = scenario.quotas().get(quota).burst();
			long reset = counting.resetAfter(quota, now);
			assertThat(reset).isNotNegative();
			assertThat(counting.remaining(quota, now + reset)).isEqualTo(burst);
			if (reset > 0) {
				assertThat(counting.remaining(quota, now + reset - 1)).isLessThan(burst);
			}
		}
	}

	@Property
	void stateMattersNoLongerThanItsLifetime(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		long now = counting.time;
		for (int quota = 0; quota < counting.paces.length; quota++) {
			assertThat(counting.resetAfter(quota, now)).isLessThanOrEqualTo(Pace.lifetimeMicros(counting.paces));
		}
	}

	@Provide
	Arbitrary<Scenario> scenarios() {
		return Scenarios.all();
	}

}
