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
 * Who is refused or only looks leaves no trace.
 */
@PropertyDefaults(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
class RefusalPropertyTests {

	@Property
	void refusedAttemptsDelayNobody(@ForAll("scenarios") Scenario scenario) {
		SplittableRandom random = scenario.random();
		Counting all = scenario.counting();
		Counting some = scenario.counting();
		for (Scenario.Attempt attempt : scenario.attempts()) {
			boolean admitted = all.attempt(attempt.time(), attempt.cost());
			if (admitted || random.nextBoolean()) {
				assertThat(some.attempt(attempt.time(), attempt.cost())).as("%s", attempt).isEqualTo(admitted);
			}
		}
	}

	@Property
	void refusalByOneQuotaTakesNothingFromTheOthers(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		long now = counting.time;
		Observed before = Observed.of(counting, now);
		assertThat(counting.attempt(now, counting.available(now) + 1)).isFalse();
		assertThat(Observed.of(counting, now)).isEqualTo(before);
	}

	@Property
	void settlingTwiceIsSettlingOnce(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		long now = counting.time + scenario.random().nextLong(10_000_000);
		long[] once = counting.settled(now);
		assertThat(counting.copy(once).settled(now)).isEqualTo(once);
	}

	@Property
	void settlingOnTheWayChangesNothing(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long longest = counting.waitFor(counting.time, scenario.largestCost()) + 2;
		long between = counting.time + random.nextLong(longest);
		long later = between + random.nextLong(longest);
		Counting looked = counting.copy(counting.settled(between));
		assertThat(Observed.of(looked, later)).isEqualTo(Observed.of(counting, later));
	}

	@Property
	void stateThatWasHandedOutIsNeverChanged(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		long now = counting.time + scenario.random().nextLong(10_000_000);
		long[] state = counting.state;
		long[] copy = state.clone();
		long[] settled = counting.settled(now);
		long[] settledCopy = settled.clone();
		counting.formula.take(settled, counting.paces, now, counting.available(now));
		counting.formula.giveBack(settled, counting.paces, now, counting.time, 1);
		assertThat(state).isEqualTo(copy);
		assertThat(settled).isEqualTo(settledCopy);
	}

	@Provide
	Arbitrary<Scenario> scenarios() {
		return Scenarios.all();
	}

}
