package dev.ratelimit.algorithm;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

class FixedWindowTests {

	private static final long EDGE = 20_000L * 86_400 * 1_000_000;

	@Test
	void twiceThePermitsPassWithinTwoMicrosecondsOfAnEdge() {
		Counting counting = Counting.of(Algorithm.FIXED_WINDOW, "100/m");
		Admissions admissions = new Admissions();
		assertThat(admissions.attempt(counting, EDGE - 1, 100)).isTrue();
		assertThat(admissions.attempt(counting, EDGE, 100)).isTrue();
		assertThat(admissions.attempt(counting, EDGE, 1)).isFalse();
		assertThat(admissions.mostInAnyWindow(Quota.parse("100/m"))).isEqualTo(200);
	}

	@Test
	void windowsAreAlignedToTheEpoch() {
		Counting counting = Counting.of(Algorithm.FIXED_WINDOW, "1/7d");
		// 1970-01-01 was a Thursday, so weeks begin on Thursdays; this is 2024-10-03.
		long edge = 2_857L * 7 * 86_400 * 1_000_000;
		assertThat(counting.attempt(edge - 1, 1)).isTrue();
		assertThat(counting.attempt(edge, 1)).isTrue();
		assertThat(counting.waitFor(edge, 1)).isEqualTo(7L * 86_400 * 1_000_000);
	}

}
