package dev.ratelimit.algorithm;

import java.util.List;
import java.util.SplittableRandom;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;

import dev.ratelimit.Algorithm;

import static org.assertj.core.api.Assertions.assertThat;

@PropertyDefaults(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
class GiveBackPropertyTests {

	@Property
	void givingBackAtOnceRestoresEverything(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long now = counting.time + random.nextLong(2) * random.nextLong(2_000_000);
		Observed before = Observed.of(counting, now);
		long cost = random.nextLong(counting.available(now) + 1);
		assertThat(counting.attempt(now, cost)).isTrue();
		counting.giveBack(now, now, cost);
		assertThat(Observed.of(counting, now)).isEqualTo(before);
	}

	@Property
	void givingBackAPartLeavesTheRestTaken(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long now = counting.time;
		long cost = random.nextLong(counting.available(now) + 1);
		long kept = random.nextLong(cost + 1);
		Counting expected = counting.copy();
		assertThat(expected.attempt(now, kept)).isTrue();
		assertThat(counting.attempt(now, cost)).isTrue();
		counting.giveBack(now, now, cost - kept);
		assertThat(Observed.of(counting, now)).isEqualTo(Observed.of(expected, now));
	}

	/**
	 * A bucket cannot tell: what was taken from a full one may have come back since.
	 */
	@Property
	void givingBackAnEarlierRequestIsAsIfItHadNotCome(@ForAll("windows") Scenario scenario) {
		Counting all = scenario.counting();
		List<Scenario.Attempt> admitted = scenario.attempts()
			.stream()
			.filter((attempt) -> all.attempt(attempt.time(), attempt.cost()) && attempt.cost() > 0)
			.toList();
		Assume.that(!admitted.isEmpty());
		Scenario.Attempt given = admitted.get(scenario.random().nextInt(admitted.size()));
		Counting others = scenario.counting();
		admitted.stream()
			.filter((attempt) -> attempt != given)
			.forEach((attempt) -> assertThat(others.attempt(attempt.time(), attempt.cost())).isTrue());
		long now = all.time;
		all.giveBack(now, given.time(), given.cost());
		assertThat(Observed.of(all, now)).isEqualTo(Observed.of(others, now));
	}

	@Property
	void givingBackNeverTakesAndNeverRaisesAboveFull(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long now = counting.time + random.nextLong(2_000_000);
		long since = since(scenario, random, now);
		Counting given = counting.copy();
		given.giveBack(now, since, random.nextLong(1, scenario.largestCost() + 1));
		long later = now + random.nextLong(2_000_000);
		for (int quota = 0; quota < counting.paces.length; quota++) {
			assertThat(given.remaining(quota, now)).isBetween(counting.remaining(quota, now),
					counting.paces[quota].burst);
			assertThat(given.remaining(quota, later)).isBetween(counting.remaining(quota, later),
					counting.paces[quota].burst);
		}
	}

	@Property
	void givingBackGivesNoMoreThanWasTaken(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long now = counting.time + random.nextLong(2_000_000);
		long permits = random.nextLong(1, scenario.largestCost() + 1);
		Counting given = counting.copy();
		given.giveBack(now, since(scenario, random, now), permits);
		for (int quota = 0; quota < counting.paces.length; quota++) {
			assertThat(given.remaining(quota, now)).isLessThanOrEqualTo(counting.remaining(quota, now) + permits);
		}
	}

	@Property
	void givingBackWhatIsOverChangesNothing(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long now = counting.time + random.nextLong(2_000_000);
		long since = since(scenario, random, now);
		Counting given = counting.copy();
		given.giveBack(now, since, random.nextLong(1, scenario.largestCost() + 1));
		for (int quota = 0; quota < counting.paces.length; quota++) {
			if (over(scenario.algorithm(), counting.paces[quota], now, since)) {
				assertThat(Observed.of(given, quota, now)).isEqualTo(Observed.of(counting, quota, now));
			}
		}
	}

	private static boolean over(Algorithm algorithm, Pace pace, long now, long since) {
		return switch (algorithm) {
			case GCRA, TOKEN_BUCKET -> now - since > pace.fullUp();
			case SLIDING_WINDOW_LOG -> now - since >= pace.window;
			case FIXED_WINDOW -> since / pace.window < now / pace.window;
			case SLIDING_WINDOW_COUNTER -> since / pace.window < now / pace.window - 1;
		};
	}

	/**
	 * When something was taken, or any other time.
	 */
	private static long since(Scenario scenario, SplittableRandom random, long now) {
		List<Scenario.Attempt> attempts = scenario.attempts();
		Pace pace = new Pace(scenario.quotas().get(random.nextInt(scenario.quotas().size())));
		return switch (random.nextInt(4)) {
			case 0 -> now - random.nextLong(2 * pace.window);
			case 1 -> now - pace.fullUp() - random.nextLong(3) + 1;
			default -> attempts.get(random.nextInt(attempts.size())).time();
		};
	}

	@Provide
	Arbitrary<Scenario> windows() {
		return Scenarios.of(Algorithm.SLIDING_WINDOW_COUNTER, Algorithm.SLIDING_WINDOW_LOG, Algorithm.FIXED_WINDOW);
	}

	@Provide
	Arbitrary<Scenario> scenarios() {
		return Scenarios.all();
	}

}
