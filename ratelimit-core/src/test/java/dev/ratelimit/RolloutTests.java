package dev.ratelimit;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RolloutTests {

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private static final Rollout PLAN = new Rollout(100, null, List.of(1, 10, 100), Duration.ofMinutes(10));

	@Test
	void planBeginsWithItsFirstStage() {
		assertThat(PLAN.firstPercent()).isEqualTo(1);
		assertThat(Rollout.COMPLETE.withPercent(25).firstPercent()).isEqualTo(25);
	}

	@ParameterizedTest
	@CsvSource({ "1, 0, 1", "1, 599, 1", "1, 600, 10", "10, 599, 10", "10, 600, 100", "100, 600, 100", "5, 600, 10",
			"0, 600, 1" })
	void stageIsFollowedByTheNextAfterItsHold(int percent, long seconds, int due) {
		assertThat(PLAN.withPercent(percent).percentAt(START, START.plusSeconds(seconds))).isEqualTo(due);
	}

	@Test
	void noStageIsSkippedHoweverLateSomebodyLooks() {
		assertThat(PLAN.withPercent(1).percentAt(START, START.plus(Duration.ofDays(3)))).isEqualTo(10);
	}

	@Test
	void holdBeginsWhenTheVersionDoes() {
		Rollout later = new Rollout(1, START.plusSeconds(3_600), List.of(1, 100), Duration.ofMinutes(10));
		assertThat(later.percentAt(START, START.plusSeconds(3_600))).isEqualTo(1);
		assertThat(later.percentAt(START, START.plusSeconds(4_200))).isEqualTo(100);
	}

	@Test
	void withoutStagesThePercentageStays() {
		assertThat(Rollout.COMPLETE.withPercent(7).percentAt(START, START.plus(Duration.ofDays(9)))).isEqualTo(7);
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 101 })
	void percentageOutOfRangeIsRejected(int percent) {
		assertThatIllegalArgumentException().isThrownBy(() -> Rollout.COMPLETE.withPercent(percent))
			.withMessageContaining("percent must be 0 to 100 but was " + percent);
	}

	@Test
	void stagesThatDoNotRiseAreRejected() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Rollout(100, null, List.of(10, 10), Duration.ofMinutes(1)))
			.withMessageContaining("stages must rise")
			.withMessageContaining("[1, 10, 100]");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Rollout(100, null, List.of(0, 10), Duration.ofMinutes(1)));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Rollout(100, null, List.of(10, 101), Duration.ofMinutes(1)));
	}

	@Test
	void holdThatEndsBeforeAnybodyLooksIsRejected() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Rollout(100, null, List.of(), Duration.ofMinutes(1), 101))
			.withMessageContaining("expect-refusals must be 0 to 100");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Rollout(100, null, List.of(), Duration.ofMinutes(1), -1));
		assertThatIllegalArgumentException().isThrownBy(() -> new Rollout(100, null, List.of(), Duration.ofMillis(999)))
			.withMessageContaining("hold must be at least 1s");
	}

}
