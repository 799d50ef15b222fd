package dev.ratelimit.guard;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class BreakerOptionsTests {

	private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

	@ParameterizedTest
	@ValueSource(longs = { 0, 1_000, 1_999, 2_500, 3_600_001 })
	void windowIsWholeSecondsFromTwo(long millis) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new BreakerOptions(5, Duration.ofMillis(millis), 50, TEN_SECONDS))
			.withMessageContaining("window must be whole seconds from 2s to 1h");
	}

	@Test
	void failureRateIsAPercentage() {
		assertThatIllegalArgumentException().isThrownBy(() -> new BreakerOptions(0, TEN_SECONDS, 50, TEN_SECONDS))
			.withMessageContaining("failure-rate");
	}

	@Test
	void opinionTakesACall() {
		assertThatIllegalArgumentException().isThrownBy(() -> new BreakerOptions(5, TEN_SECONDS, 0, TEN_SECONDS))
			.withMessageContaining("minimum-calls");
	}

	@Test
	void openBreakerStaysOpenForAWhile() {
		assertThatIllegalArgumentException().isThrownBy(() -> new BreakerOptions(5, TEN_SECONDS, 50, Duration.ZERO))
			.withMessageContaining("open-for");
	}

}
