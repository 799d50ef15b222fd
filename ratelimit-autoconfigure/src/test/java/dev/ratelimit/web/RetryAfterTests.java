package dev.ratelimit.web;

import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class RetryAfterTests {

	@ParameterizedTest
	@CsvSource({ "1, 1, 1, 1", "300_000, 1, 1, 300", "1_000_000, 1, 2, 1000", "1_000_001, 2, 2, 1001",
			"1_500_000, 2, 3, 1500", "20_000_000, 20, 30, 20000", "3_600_000_000, 3600, 3610, 3600000" })
	void addsWholeSecondsUpToTheWaitOrTenSeconds(String wait, long earliest, long latest, long millis) {
		long micros = Long.parseLong(wait.replace("_", ""));
		assertThat(RetryAfter.of(micros, (most) -> 0)).isEqualTo(new RetryAfter(earliest, millis));
		assertThat(RetryAfter.of(micros, (most) -> most)).isEqualTo(new RetryAfter(latest, millis));
	}

	@Test
	void isNeverBeforeTheTrueWaitAndNeverTooLate() {
		Random random = new Random(42);
		for (int i = 0; i < 2_000; i++) {
			long wait = 1 + random.nextLong(1L << (1 + random.nextInt(40)));
			RetryAfter retryAfter = RetryAfter.of(wait, (most) -> random.nextLong(most + 1));
			long micros = retryAfter.seconds() * 1_000_000;
			assertThat(micros).isGreaterThanOrEqualTo(Math.max(wait, 1_000_000));
			// Rounding up comes first; only what is added to that is jitter.
			long rounded = (Math.max(wait, 1) + 999_999) / 1_000_000 * 1_000_000;
			assertThat(micros).isLessThanOrEqualTo(Math.max(rounded, wait + Math.min(wait, 10_000_000)));
			assertThat(retryAfter.millis() * 1_000).isBetween(wait, wait + 999);
		}
	}

	@Test
	void callersThatWereTurnedAwayTogetherAreSpread() {
		Random random = new Random(42);
		int[] seconds = new int[31];
		for (int i = 0; i < 10_000; i++) {
			seconds[(int) RetryAfter.of(20_000_000, (most) -> random.nextLong(most + 1)).seconds()]++;
		}
		for (int second = 20; second <= 30; second++) {
			assertThat(seconds[second]).isGreaterThan(300);
		}
	}

	@Test
	void aJitterOutOfBoundsIsCut() {
		assertThat(RetryAfter.of(1_000_000, (most) -> Long.MAX_VALUE).seconds()).isEqualTo(2);
		assertThat(RetryAfter.of(1_000_000, (most) -> -5_000).seconds()).isEqualTo(1);
	}

}
