package dev.ratelimit.fleet;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.ratelimit.PrintableText;
import dev.ratelimit.FailureMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ForcedModeTests {

	@ParameterizedTest
	@ValueSource(strings = { "PT0S", "PT-1S" })
	void durationIsPositive(Duration left) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ForcedMode(FailureMode.ALLOW, left, "ann", ""))
			.withMessage("duration must be positive but was " + left);
	}

	@Test
	void durationIsAtMostAMonth() {
		assertThat(new ForcedMode(FailureMode.ALLOW, Duration.ofDays(30), "ann", "").left()).hasDays(30);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new ForcedMode(FailureMode.ALLOW, Duration.ofDays(30).plusNanos(1), "ann", ""))
			.withMessageStartingWith("duration must be at most 30 days");
	}

	@Test
	void textsStayOnOneLine() {
		ForcedMode forced = new ForcedMode(FailureMode.ALLOW, ForcedMode.USUAL, "an\nn", "a\r\nb\u2028c\u202ed\ud800");
		assertThat(forced.actor()).isEqualTo("an n");
		assertThat(forced.reason()).isEqualTo("a b c d");
	}

	@Test
	void textsAreCut() {
		assertThat(PrintableText.of("x".repeat(10_000))).hasSize(500);
	}

}
