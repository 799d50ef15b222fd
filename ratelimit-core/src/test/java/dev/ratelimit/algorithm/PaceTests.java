package dev.ratelimit.algorithm;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Quota;

import static org.assertj.core.api.Assertions.assertThat;

class PaceTests {

	@Test
	void permitsThatDoNotDivideTheWindowLeaveARest() {
		Pace pace = new Pace(Quota.parse("7/s"));
		assertThat(Pace.numbers(Algorithm.GCRA, new Pace[] { pace })).containsExactly(7, 1_000_000, 7, 142_857, 1,
				1_000_000, 0, 1, 1_000_000);
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
	void stateMattersForTwoWindowsOrTwoBurstsOfWhoeverSharesIt() {
		assertThat(lifetime("10/s")).isEqualTo(2_000_000);
		assertThat(lifetime("10/s burst 1")).isEqualTo(2_000_000);
		assertThat(lifetime("10/s burst 50")).isEqualTo(10_000_000);
		assertThat(lifetime("10/s", "10/s burst 50")).isEqualTo(10_000_000);
		assertThat(lifetime("10/s", "1/m")).isEqualTo(120_000_000);
	}

	private static long lifetime(String quota, String... others) {
		LiveWindows live = new LiveWindows();
		live.set(Stream.of(others).map(Quota::parse).map(LiveWindow::of).toList());
		return Pace.lifetimeMicros(Pace.of(List.of(Quota.parse(quota)), live.current()));
	}

	@Test
	void restOfAQuotaSurvivesBeingStored() {
		for (long permits : new long[] { 3, 7, 999_983, 89_999_999, 90_000_000 }) {
			Pace pace = new Pace(Quota.of(permits, Duration.ofSeconds(1)));
			for (long rest : new long[] { 0, 1, 2, permits / 3, permits - 2, permits - 1 }) {
				assertThat(pace.restOf(pace.stored(rest))).isEqualTo(rest);
				assertThat(pace.stored(rest)).isBetween(0L, Pace.PARTS);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "90000000/31d", "1/s burst 90000000", "1/31d burst 588", "89999999/31d burst 90000000",
			"90000000/s burst 90000000", "44999999/31d burst 90000000", "89999999/2678399s" })
	void numbersOfTheLargestQuotasStayBelowTwoToThe53(String quota) {
		Pace[] paces = Pace.of(List.of(Quota.parse(quota)), List.of());
		assertThat(Stream.of(Algorithm.values()).flatMapToDouble((any) -> Arrays.stream(Pace.numbers(any, paces))))
			.allMatch((number) -> number >= 0 && number < 0x1p53);
	}

}
