package dev.ratelimit.algorithm;

import java.time.Duration;
import java.util.SplittableRandom;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store's clock that is set, back or forward, by microseconds or by a year.
 */
@PropertyDefaults(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
class ClockPropertyTests {

	private static final long YEAR = Duration.ofDays(365).toSeconds() * 1_000_000;

	@Property
	void settingItBackHandsOutNothing(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long now = counting.time + random.nextLong(2_000_000);
		long back = now - step(scenario, random, now);
		for (int quota = 0; quota < counting.paces.length; quota++) {
			assertThat(counting.remaining(quota, back)).isLessThanOrEqualTo(counting.remaining(quota, now));
		}
	}

	@Property
	void settingItBackLocksNobodyOut(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long now = counting.time;
		long back = now - step(scenario, random, now);
		long longest = scenario.quotas()
			.stream()
			.mapToLong((quota) -> longestWaitForOne(scenario.algorithm(), quota))
			.max()
			.orElseThrow();
		long never = scenario.largestCost() + 1;
		long time = back;
		while (time < back + longest) {
			assertThat(counting.attempt(time, never)).isFalse();
			time += 1 + random.nextLong(longest / 2 + 1);
		}
		assertThat(counting.attempt(back + longest, 1)).isTrue();
	}

	/**
	 * What is true of a counter whose state is as far ahead of its clock as can be.
	 */
	private static long longestWaitForOne(Algorithm algorithm, Quota quota) {
		long window = quota.window().toSeconds() * 1_000_000;
		long permit = (window + quota.permits() - 1) / quota.permits();
		return switch (algorithm) {
			// A burst is left standing that might be owed, then comes the one asked for.
			// Both are rounded up, and what stands has a rest below a microsecond.
			case GCRA, TOKEN_BUCKET -> new Pace(quota).fullUp() + permit + 2;
			// All permits may have been taken in this window; one of them weighs less
			// than a permit when the next one is 1/permits old.
			case SLIDING_WINDOW_COUNTER -> window + permit;
			case SLIDING_WINDOW_LOG, FIXED_WINDOW -> window;
		};
	}

	@Property
	void settingItBackAgainAndAgainEarnsABucketNothing(@ForAll("buckets") Scenario scenario) {
		Counting counting = scenario.counting();
		Admissions admissions = new Admissions();
		SplittableRandom random = scenario.random();
		long offset = 0;
		for (Scenario.Attempt attempt : scenario.attempts()) {
			if (random.nextInt(5) == 0) {
				offset += step(scenario, random, attempt.time() - offset);
			}
			// Told in the time that really went by, which is what the rate is about.
			admissions.attempt(counting, attempt.time() - offset, attempt.cost(), attempt.time());
		}
		assertThat(scenario.quotas()).allMatch(admissions::withinBurstPlusRateTimesTime);
	}

	@Property
	void settingItForwardNeverGivesMoreThanFull(@ForAll("scenarios") Scenario scenario) {
		Counting counting = scenario.used();
		SplittableRandom random = scenario.random();
		long forward = counting.time + step(scenario, random, counting.time);
		for (int quota = 0; quota < counting.paces.length; quota++) {
			assertThat(counting.remaining(quota, forward)).isBetween(0L, scenario.quotas().get(quota).burst());
		}
	}

	private static long step(Scenario scenario, SplittableRandom random, long now) {
		Quota quota = scenario.quotas().get(random.nextInt(scenario.quotas().size()));
		long window = quota.window().toSeconds() * 1_000_000;
		return switch (random.nextInt(5)) {
			case 0 -> random.nextLong(1, 4);
			case 1 -> now % window + random.nextLong(0, 3);
			case 2 -> random.nextLong(1, 2 * window);
			case 3 -> random.nextLong(1, 3 * new Pace(quota).fullUp() + 1) % YEAR + 1;
			default -> random.nextLong(1, YEAR);
		};
	}

	@Provide
	Arbitrary<Scenario> scenarios() {
		return Scenarios.all();
	}

	@Provide
	Arbitrary<Scenario> buckets() {
		return Scenarios.of(Algorithm.GCRA, Algorithm.TOKEN_BUCKET);
	}

}
