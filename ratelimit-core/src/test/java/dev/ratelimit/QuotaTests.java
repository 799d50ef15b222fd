package dev.ratelimit;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class QuotaTests {

	@ParameterizedTest
	@CsvSource({ "100/s burst 200, 100, PT1S, 200", "100/s, 100, PT1S, 100", "3000/m, 3000, PT1M, 3000",
			"100000/h, 100000, PT1H, 100000", "5/10s, 5, PT10S, 5", "7/d, 7, P1D, 7", "1/7d, 1, P7D, 1",
			"1/15m burst 3, 1, PT15M, 3", "5/36h, 5, PT36H, 5", "90000000/31d, 90000000, P31D, 90000000",
			"'  5 / 10s  burst   2 ', 5, PT10S, 2", "007/01s, 7, PT1S, 7" })
	void readsWhatIsWritten(String text, long permits, Duration window, long burst) {
		assertThat(Quota.parse(text)).isEqualTo(new Quota(permits, window, burst));
	}

	@ParameterizedTest
	@CsvSource({ "100/1s, 100/s", "3000/60s, 3000/m", "5/10s, 5/10s", "5/3600s, 5/h", "5/24h, 5/d", "5/168h, 5/7d",
			"5/90s, 5/90s", "5/61m, 5/61m", "5/s burst 5, 5/s", "5/s burst 6, 5/s burst 6", "5/11s, 5/11s",
			"5/1440m, 5/d", "5/10d, 5/10d" })
	void printsTheShortestForm(String text, String printed) {
		assertThat(Quota.parse(text)).hasToString(printed);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "100", "/s", "100/", "100/x", "-1/s", "1.5/s", "100/s burst", "100/s burst -2",
			"100/s 200", "100/sburst 200", "100/s burst 2 00", "100 per s", "100/s burst 200 x", "100/S", "100/w",
			"1e3/s", "100/ms", "١/s", "1234567890123456789/s", "1/1234567890s" })
	void whatIsNoQuotaIsAnsweredWithHowToWriteOne(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Quota.parse(text))
			.withMessage("'" + text + "' is not a quota, write <permits>/<window>[ burst <permits>], "
					+ "for example 100/s, 5/10s or 100/s burst 200");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			0/s                | permits must be at least 1 but was 0
			90000001/s         | permits must be at most 90000000 but was 90000001
			5/s burst 0        | burst must be at least 1 but was 0
			5/s burst 90000001 | burst must be at most 90000000 but was 90000001
			5/0s               | window must be one or more whole seconds but was PT0S
			5/0d               | window must be one or more whole seconds but was PT0S
			5/32d              | window must be at most 31d but was 32d
			5/2678401s         | window must be at most 31d but was 2678401s
			5/999999999d       | window must be at most 31d but was 999999999d
			1/31d burst 589    | burst 589 would take more than 50 years to refill at 1/31d, use a smaller one
			1/m burst 90000000 | burst 90000000 would take more than 50 years to refill at 1/1m, use a smaller one
			""")
	void numberOutOfBoundsIsNamedWithTheTextItCameFrom(String text, String message) {
		assertThatIllegalArgumentException().isThrownBy(() -> Quota.parse(text))
			.withMessage("'" + text + "': " + message);
	}

	@Test
	void numberOutOfBoundsIsNamed() {
		Duration second = Duration.ofSeconds(1);
		assertThatIllegalArgumentException().isThrownBy(() -> Quota.of(0, second))
			.withMessage("permits must be at least 1 but was 0");
		assertThatIllegalArgumentException().isThrownBy(() -> Quota.of(-5, second))
			.withMessage("permits must be at least 1 but was -5");
		assertThatIllegalArgumentException().isThrownBy(() -> new Quota(1, second, -1))
			.withMessage("burst must be at least 1 but was -1");
	}

	@Test
	void windowIsWholeSeconds() {
		assertThatIllegalArgumentException().isThrownBy(() -> Quota.of(1, Duration.ofMillis(1_500)))
			.withMessage("window must be one or more whole seconds but was PT1.5S");
		assertThatIllegalArgumentException().isThrownBy(() -> Quota.of(1, Duration.ofMillis(999)))
			.withMessage("window must be one or more whole seconds but was PT0.999S");
		assertThatIllegalArgumentException().isThrownBy(() -> Quota.of(1, Duration.ofSeconds(-1)))
			.withMessage("window must be one or more whole seconds but was PT-1S");
	}

	@ParameterizedTest
	@ValueSource(strings = { "1/s", "90000000/s", "90000000/s burst 1", "90000000/31d", "1/31d burst 588",
			"1/s burst 90000000" })
	void boundsThemselvesAreAllowed(String text) {
		assertThat(Quota.parse(text)).hasToString(text);
	}

	@Test
	void burstEqualsThePermitsUnlessSaid() {
		assertThat(Quota.of(100, Duration.ofSeconds(1)).burst()).isEqualTo(100);
	}

	@ParameterizedTest
	@CsvSource({ "PT1S, 1s", "PT90S, 90s", "PT1M, 1m", "PT90M, 90m", "PT24H, 1d", "P7D, 7d", "PT0S, 0s" })
	void durationIsTextInItsLargestUnit(Duration duration, String text) {
		assertThat(Quota.text(duration)).isEqualTo(text);
	}

	@ParameterizedTest
	@CsvSource({ "5/1s, s", "5/1d, d", "5/10s, 10s", "5/15m, 15m", "5/11h, 11h" })
	void windowOfOneUnitIsTextWithoutTheOne(String quota, String text) {
		assertThat(Quota.parse(quota).windowText()).isEqualTo(text);
	}

	@Test
	void shareHasAtLeastOnePermitAndABurstThatCanBeRefilled() {
		assertThat(Quota.parse("100/s burst 200").scaled(1.5 / 4)).isEqualTo(Quota.parse("38/s burst 75"));
		assertThat(Quota.parse("1/s").scaled(0.01)).isEqualTo(Quota.parse("1/s"));
		assertThat(Quota.parse("90000000/s").scaled(1.5)).isEqualTo(Quota.parse("90000000/s"));
		assertThat(Quota.parse("3/31d burst 1764").scaled(1.5 / 4).burst()).isBetween(500L, 600L);
	}

}
