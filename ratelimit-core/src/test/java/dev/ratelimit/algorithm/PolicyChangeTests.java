package dev.ratelimit.algorithm;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

class PolicyChangeTests {

	private static final long EDGE = 20_000L * 86_400 * 1_000_000;

	@ParameterizedTest
	@CsvSource({ "GCRA, 50, 5", "TOKEN_BUCKET, 50, 5", "SLIDING_WINDOW_COUNTER, 95, 0", "SLIDING_WINDOW_LOG, 95, 0",
			"FIXED_WINDOW, 95, 0" })
	void bucketKeepsTheShareAndWindowTheCount(Algorithm algorithm, long raised, long lowered) {
		Counting ten = Counting.of(algorithm, "10/m");
		assertThat(ten.attempt(EDGE, 5)).isTrue();
		assertThat(ten.under(algorithm, List.of(Quota.parse("100/m"))).available(EDGE)).isEqualTo(raised);
		Counting hundred = Counting.of(algorithm, "100/m");
		assertThat(hundred.attempt(EDGE, 50)).isTrue();
		assertThat(hundred.under(algorithm, List.of(Quota.parse("10/m"))).available(EDGE)).isEqualTo(lowered);
	}

	@Test
	void arrivalTimeBeyondTwoBurstsIsCutBackOnceAndForAll() {
		Counting counting = Counting.of(Algorithm.GCRA, "1/s burst 1000");
		assertThat(counting.attempt(EDGE, 1_000)).isTrue();
		counting = counting.under(Algorithm.GCRA, List.of(Quota.parse("1/s")));
		assertThat(counting.attempt(EDGE, 1)).isFalse();
		assertThat(counting.waitFor(EDGE, 1L)).isEqualTo(1_000_000);
		assertThat(counting.attempt(EDGE + 600_000, 1)).isFalse();
		assertThat(counting.attempt(EDGE + 999_999, 1)).isFalse();
		assertThat(counting.attempt(EDGE + 1_000_000, 1)).isTrue();
	}

	@Test
	void arrivalTimeWithinTwoBurstsIsLeftAlone() {
		Counting counting = Counting.of(Algorithm.GCRA, "1/s burst 10");
		assertThat(counting.attempt(EDGE, 10)).isTrue();
		counting = counting.under(Algorithm.GCRA, List.of(Quota.parse("1/s burst 5")));
		assertThat(counting.waitFor(EDGE, 1L)).isEqualTo(6_000_000);
	}

}
