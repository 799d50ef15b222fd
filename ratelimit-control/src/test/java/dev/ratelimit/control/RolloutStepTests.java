package dev.ratelimit.control;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import dev.ratelimit.Rollout;
import dev.ratelimit.control.RolloutStep.Kind;
import dev.ratelimit.policy.Tally;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is to be done about a rollout at which time.
 */
class RolloutStepTests {

	private static final Instant START = Instant.parse("2026-01-01T12:00:00Z");

	private static final Duration HOLD = Duration.ofMinutes(10);

	@Test
	void stageIsHeldUntilItsTimeIsOver() {
		assertThat(step(1, counts(0, 0), HOLD.minusMillis(1)).kind()).isEqualTo(Kind.STAY);
	}

	@Test
	void nextStageFollowsTheHold() {
		assertThat(step(1, counts(0, 0), HOLD)).isEqualTo(new RolloutStep(Kind.ADVANCE, 10, "stage 10 % after 10m"));
		assertThat(step(10, counts(0, 0), HOLD).percent()).isEqualTo(100);
	}

	@Test
	void noStageIsSkippedHoweverLateSomebodyLooks() {
		assertThat(step(1, counts(0, 0), HOLD.multipliedBy(100)).percent()).isEqualTo(10);
	}

	@Test
	void holdBeginsWhenTheVersionIsValid() {
		Rollout later = new Rollout(1, START.plusSeconds(60), List.of(1, 10, 100), HOLD);
		assertThat(RolloutStep.of(later, START, null, START.plus(HOLD)).kind()).isEqualTo(Kind.STAY);
		assertThat(RolloutStep.of(later, START, null, START.plus(HOLD).plusSeconds(60)).kind()).isEqualTo(Kind.ADVANCE);
	}

	@Test
	void withoutAVersionBeforeTimeAloneDecides() {
		assertThat(step(1, null, HOLD).kind()).isEqualTo(Kind.ADVANCE);
	}

	@Test
	void versionThatRefusesFarMoreGoesAtOnce() {
		RolloutStep step = step(1, counts(10, 500), Duration.ofSeconds(1));
		assertThat(step.kind()).isEqualTo(Kind.ROLL_BACK);
		assertThat(step.reason())
			.isEqualTo("rolled back at 1 %: refuses 50.0 % of 1000, the version before 1.0 % of 1000");
	}

	@Test
	void versionThatRefusesALittleMoreGoesInsteadOfTheNextStage() {
		RolloutCounts threeSigmas = counts(10, 29);
		assertThat(step(1, threeSigmas, Duration.ofSeconds(30)).kind()).isEqualTo(Kind.STAY);
		assertThat(step(1, threeSigmas, HOLD).kind()).isEqualTo(Kind.ROLL_BACK);
	}

	@Test
	void lastStageIsNotTakenBackByChanceLongAfterItsHold() {
		Rollout rollout = new Rollout(10, null, List.of(1, 10), HOLD);
		Instant later = START.plus(HOLD.multipliedBy(100));
		assertThat(RolloutStep.of(rollout, START, counts(10, 29), later).kind()).isEqualTo(Kind.STAY);
		assertThat(RolloutStep.of(rollout, START, counts(10, 500), later).kind()).isEqualTo(Kind.ROLL_BACK);
	}

	@Test
	void versionThatRefusesLessGoesOn() {
		assertThat(step(1, counts(500, 10), HOLD).kind()).isEqualTo(Kind.ADVANCE);
	}

	@Test
	void stagesForEverybodyBeginWithTheFirst() {
		Rollout rollout = new Rollout(100, START, List.of(5, 100), HOLD);
		assertThat(RolloutStep.begun(Map.of("limits", Map.of()), rollout)).isEqualTo(Map.of("limits", Map.of(),
				"rollout",
				Map.of("percent", 5, "stages", List.of(5, 100), "hold", "10m", "valid-from", "2026-01-01T12:00:00Z")));
	}

	@Test
	void stagesBeginWhereTheirAuthorSays() {
		Map<String, Object> document = Map.of("rollout", Map.of("percent", 10, "stages", List.of(5, 10, 100)));
		assertThat(RolloutStep.begun(document, new Rollout(10, null, List.of(5, 10, 100), HOLD))).isSameAs(document);
	}

	@Test
	void stageReplacesTheRolloutHoweverItIsSpelt() {
		Map<String, Object> document = Map.of("Roll_Out", Map.of("stages", List.of(5, 100)));
		assertThat(RolloutStep.begun(document, new Rollout(100, null, List.of(5, 100), HOLD)))
			.containsOnlyKeys("rollout");
	}

	@Test
	void lastStageLeavesNothingOfTheRollout() {
		Map<String, Object> document = Map.of("limits", Map.of(), "rollout", Map.of("percent", 10));
		assertThat(RolloutStep.at(100, document, new Rollout(10, START, List.of(10, 100), HOLD)))
			.isEqualTo(Map.of("limits", Map.of()));
	}

	private static RolloutStep step(int percent, RolloutCounts counts, Duration passed) {
		return RolloutStep.of(new Rollout(percent, null, List.of(1, 10, 100), HOLD), START, counts, START.plus(passed));
	}

	private static RolloutCounts counts(long oldRefusals, long newRefusals) {
		return new RolloutCounts(new Tally(1_000, oldRefusals), new Tally(1_000, newRefusals), 0, 0, 0, 0, true);
	}

}
