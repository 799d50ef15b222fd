package dev.ratelimit.algorithm;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

class PaceTests {

	@Test
	void permitsThatDoNotDivideTheWindowLeaveARest() {
		Pace pace = new Pace(Quota.parse("7/s"));
		assertThat(pace.numbers()).containsExactly(7, 1_000_000, 7, 142_857, 1, 1_000_000, 0, 1);
		assertThat(pace.micros(3)).isEqualTo(428_571);
		assertThat(pace.rest(3)).isEqualTo(3);
	}

	@Test
	void severalPermitsCanComeBackInOneMicrosecond() {
		Pace pace = new Pace(Quota.parse("90000000/s"));
		assertThat(pace.permitsIn(1, 0)).isEqualTo(90);
		assertThat(pace.permitsIn(0, 89_999_999)).isEqualTo(89);
	}

	@Test
	void stateMattersForTwoWindowsOrTwoBursts() {
		assertThat(new Pace(Quota.parse("10/s")).lifetimeMicros()).isEqualTo(2_000_000);
		assertThat(new Pace(Quota.parse("10/s burst 1")).lifetimeMicros()).isEqualTo(2_000_000);
		assertThat(new Pace(Quota.parse("10/s burst 50")).lifetimeMicros()).isEqualTo(10_000_000);
	}

	@ParameterizedTest
	@ValueSource(strings = { "90000000/31d", "1/s burst 90000000", "1/31d burst 588", "89999999/31d burst 90000000",
			"90000000/s burst 90000000", "44999999/31d burst 90000000", "89999999/2678399s" })
	void numbersOfTheLargestQuotasStayBelowTwoToThe53(String quota) {
		assertThat(Arrays.stream(new Pace(Quota.parse(quota)).numbers()))
			.allMatch((number) -> number >= 0 && number < 0x1p53);
	}

	@Test
	void windowsOfUpTo99OfAUnitHaveATagOfTheirOwn() {
		Map<Integer, Long> windows = new HashMap<>();
		for (long unit : new long[] { 1, 60, 3_600, 86_400 }) {
			for (long count = 1; count <= 99; count++) {
				long seconds = unit * count;
				Long other = windows.putIfAbsent(Pace.tag(seconds), seconds);
				assertThat(other == null || other == seconds).as("%d and %d", seconds, other).isTrue();
			}
		}
	}

	@Test
	void tagsHaveAtMostThreeDigits() {
		for (long seconds = 1; seconds <= Quota.MAX_WINDOW.toSeconds(); seconds++) {
			int tag = Pace.tag(seconds);
			if (tag < 1 || tag > 999) {
				assertThat(tag).as("%d seconds", seconds).isBetween(1, 999);
			}
		}
	}

}
