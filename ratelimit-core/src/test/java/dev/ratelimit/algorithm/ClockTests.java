package dev.ratelimit.algorithm;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.ratelimit.Algorithm;

import static org.assertj.core.api.Assertions.assertThat;

class ClockTests {

	private static final long EDGE = 20_000L * 86_400 * 1_000_000;

	private static final long YEAR = 365L * 86_400 * 1_000_000;

	@ParameterizedTest
	@EnumSource
	void usedUpStaysUsedUpWhenTheClockIsSetBackAYear(Algorithm algorithm) {
		Counting counting = Counting.of(algorithm, "10/m");
		assertThat(counting.attempt(EDGE, 10)).isTrue();
		assertThat(counting.attempt(EDGE - YEAR, 1)).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void refusalsDoNotStartTheWaitAnew(Algorithm algorithm) {
		Counting counting = Counting.of(algorithm, "10/m");
		assertThat(counting.attempt(EDGE, 10)).isTrue();
		long back = EDGE - YEAR;
		for (long after = 0; after < 66_000_000; after += 1_000_000) {
			counting.attempt(back + after, 11);
		}
		assertThat(counting.attempt(back + 66_000_000, 1)).isTrue();
	}

	@Test
	void previousWindowWeighsNoLessWhenTheClockIsSetBackBehindTheEdge() {
		Counting counting = Counting.of(Algorithm.SLIDING_WINDOW_COUNTER, "10/m");
		assertThat(counting.attempt(EDGE - 1, 9)).isTrue();
		assertThat(counting.attempt(EDGE, 1)).isTrue();
		assertThat(counting.available(EDGE)).isZero();
		assertThat(counting.available(EDGE - 1)).isZero();
	}

	@Test
	void arrivalTimeWithinTwoBurstsAheadMakesOneWaitForABurstAndAPermit() {
		Counting counting = Counting.of(Algorithm.GCRA, "10/s");
		assertThat(counting.attempt(EDGE, 10)).isTrue();
		assertThat(counting.waitFor(EDGE - 1_000_000, 1L)).isEqualTo(1_100_000);
		assertThat(counting.waitFor(EDGE - 1_000_001, 1L)).isEqualTo(100_000);
	}

}
