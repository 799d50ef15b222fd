package dev.ratelimit.algorithm;

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
 * The guarantees of the algorithms, held against what was let through.
 */
@PropertyDefaults(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
class GuaranteePropertyTests {

	@Property
	void bucketAdmitsAtMostTheBurstAndTheRateTimesTheTime(@ForAll("buckets") Scenario scenario) {
		Admissions admissions = Admissions.of(scenario);
		assertThat(scenario.quotas()).allMatch(admissions::withinBurstPlusRateTimesTime);
	}

	@Property
	void logAdmitsAtMostThePermitsInAnyWindow(@ForAll("logs") Scenario scenario) {
		Admissions admissions = Admissions.of(scenario);
		assertThat(scenario.quotas())
			.allSatisfy((quota) -> assertThat(admissions.mostInAnyWindow(quota)).isLessThanOrEqualTo(quota.permits()));
	}

	@Property
	void fixedWindowAdmitsAtMostThePermitsInAnAlignedWindow(@ForAll("fixedWindows") Scenario scenario) {
		Admissions admissions = Admissions.of(scenario);
		assertThat(scenario.quotas()).allSatisfy(
				(quota) -> assertThat(admissions.mostInAnAlignedWindow(quota)).isLessThanOrEqualTo(quota.permits()));
	}

	@Property
	void fixedWindowAdmitsAtMostTwiceThePermitsInAnyWindow(@ForAll("fixedWindows") Scenario scenario) {
		Admissions admissions = Admissions.of(scenario);
		assertThat(scenario.quotas()).allSatisfy(
				(quota) -> assertThat(admissions.mostInAnyWindow(quota)).isLessThanOrEqualTo(2 * quota.permits()));
	}

	/**
	 * From j microseconds before an edge to e after it: at most p came in the window
	 * before, and when the last one came, current ≤ permits − p·(window − e)/window. So
	 * together ≤ permits + p·e/window, and p ≤ permits. Each window that lies wholly in
	 * between adds at most the permits, for a window's time. That is what a bucket with a
	 * burst of the permits guarantees.
	 */
	@Property
	void slidingWindowCounterAdmitsAtMostThePermitsAndTheRateTimesTheTime(@ForAll("counters") Scenario scenario) {
		Admissions admissions = Admissions.of(scenario);
		assertThat(scenario.quotas()).allMatch(admissions::withinBurstPlusRateTimesTime);
	}

	/**
	 * {@link SlidingWindowCounterTests} reaches the bound.
	 */
	@Property
	void slidingWindowCounterAdmitsLessThanTwiceThePermitsInAnyWindow(@ForAll("counters") Scenario scenario) {
		Admissions admissions = Admissions.of(scenario);
		assertThat(scenario.quotas()).allSatisfy((quota) -> assertThat(admissions.mostInAnyWindow(quota))
			.isLessThanOrEqualTo(SlidingWindowCounterTests.worstCase(quota)));
	}

	@Property
	void slidingWindowCounterAdmitsAtMostThePermitsInAnAlignedWindow(@ForAll("counters") Scenario scenario) {
		Admissions admissions = Admissions.of(scenario);
		assertThat(scenario.quotas()).extracting(admissions::mostInAnAlignedWindow)
			.zipSatisfy(scenario.quotas().stream().map(Quota::permits).toList(),
					(most, permits) -> assertThat(most).isLessThanOrEqualTo(permits));
	}

	@Provide
	Arbitrary<Scenario> buckets() {
		return Scenarios.of(Algorithm.GCRA, Algorithm.TOKEN_BUCKET);
	}

	@Provide
	Arbitrary<Scenario> logs() {
		return Scenarios.of(Algorithm.SLIDING_WINDOW_LOG);
	}

	@Provide
	Arbitrary<Scenario> fixedWindows() {
		return Scenarios.of(Algorithm.FIXED_WINDOW);
	}

	@Provide
	Arbitrary<Scenario> counters() {
		return Scenarios.of(Algorithm.SLIDING_WINDOW_COUNTER);
	}

}
